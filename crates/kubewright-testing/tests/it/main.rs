//! Tests that use the clusters as the tests of a user do.

mod embedded;
mod existing;
mod kubectl;
// The tests read /proc.
#[cfg(target_os = "linux")]
mod lifetime;
mod operator;
mod pool;
mod protobuf;
mod real;
mod service_webhooks;
