//! What a user of the facade meets.

mod authorizer;
mod certificates;
mod configuration;
mod conversion;
mod definition;
mod description;
mod examples;
mod faults;
mod kinds;
mod must_fail;
mod samples;
mod shown;
mod webhooks;
