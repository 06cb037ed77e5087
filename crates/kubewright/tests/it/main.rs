//! What a user of the facade meets.

mod authorizer;
mod certificates;
mod clients;
mod configuration;
mod conversion;
mod definition;
mod description;
mod examples;
mod faults;
mod kinds;
mod manager;
mod must_fail;
mod namespaces;
mod samples;
mod shown;
mod tls;
mod webhooks;
