//! Tests of the facade, as a user calls it.

mod authorizer;
mod certificates;
mod client_options;
mod clients;
mod configuration;
mod conflicts;
mod connecting;
mod conversion;
mod definition;
mod description;
mod dynamic_webhooks;
mod example_code;
mod examples;
mod faults;
mod guide;
mod http_versions;
mod kinds;
mod manager;
mod must_fail;
mod namespaces;
mod policies;
mod registrations;
mod samples;

mod tls;
mod webhook_life;
mod webhook_metrics;
mod webhooks;
