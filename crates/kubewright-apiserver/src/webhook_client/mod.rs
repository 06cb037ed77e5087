//! Calls to webhooks for admission, conversion and authorization.
//!
//! `config` reads where a webhook is, `connect` opens a TLS connection to it, `connections` keeps
//! idle ones, and `client` sends a review and decodes the response.

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
