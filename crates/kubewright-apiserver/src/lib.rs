//! The API server: requests, authentication, authorization, admission, custom resources, store, discovery, OpenAPI.
//!
//! [`Server::service`] is the server without a socket, [`Server::serve`] the server on one.
//! [`Server::execute`] is for components of the cluster in this process, and [`Server::store`] has
//! the objects.
//!
//! A request passes the modules in this order: `serve` (HTTP), `authentication`, `authorization`,
//! `request` (the handlers), `admission`, `store`. `resources` finds what is served, `discovery`
//! and `openapi` describe it, and `table` shows it.

mod admission;
mod aggregate;
mod authentication;
mod authorization;
mod bootstrap;
mod discovery;
mod encoding;
mod openapi;
mod request;
mod resources;
mod scheme;
mod serve;
mod server;
pub mod store;
mod table;
mod warnings;
mod webhook_client;

pub use admission::{AdmissionPlugin, AdmissionPlugins, UnknownAdmissionPlugin};
pub use authentication::User;
pub use authorization::{AuthorizationFailure, AuthorizationWebhook, CacheTtl};
pub use request::{ApiBody, ApiRequest, ApiResponse, Content, List, PatchKind, Watch};
pub use resources::builtin_resources;
pub use serve::{Error, InProcess, ServerBody, ServingIdentity};
pub use server::{Server, ServerOptions};
pub use store::timestamp;
pub use table::{Form, Included};
pub use warnings::Warnings;
pub use webhook_client::{WebhookConnector, WebhookEndpoint, WebhookEndpoints};
