//! The clusters of the kit, used as a test uses them.

mod differential;
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
mod sequences;
mod service_webhooks;
