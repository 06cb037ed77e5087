//! The clusters of the kit, used as a test uses them.

mod embedded;
mod existing;
mod kubectl;
// What runs is looked up in /proc.
#[cfg(target_os = "linux")]
mod lifetime;
mod operator;
mod pool;
mod protobuf;
mod real;
mod service_webhooks;
