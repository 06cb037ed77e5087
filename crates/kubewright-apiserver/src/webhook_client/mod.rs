//! Calls to webhooks for admission, conversion and authorization.
//!
//! `config` has the address of a webhook, `service` resolves Services, `connect` opens TLS
//! connections, `connections` reuses idle ones, and `client` sends a review and decodes the
//! response. `endpoints` are webhook servers in this process.

mod client;
mod config;
mod connect;
mod connections;
mod endpoints;
mod error;
mod messages;
mod service;

pub(crate) use client::{WebhookCall, WebhookClient};
pub(crate) use config::ClientConfig;
pub use endpoints::{WebhookConnector, WebhookEndpoint, WebhookEndpoints};
pub(crate) use error::CallError;
pub(crate) use messages::ResponseFormat;
