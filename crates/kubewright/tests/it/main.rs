//! What a user of the facade meets.

mod authorizer;
mod careful_clients;
mod certificates;
mod clients;
mod configuration;
mod conflicts;
mod connecting;
mod conversion;
mod definition;
mod description;
mod dynamic_webhooks;
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
mod shown;
mod tls;
mod webhook_metrics;
mod webhooks;
