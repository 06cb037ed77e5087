//! The embedded Kubernetes: API server, store, and what a cluster does by itself.
//!
//! [`Server::service`] is the server without a socket, [`Server::execute`] the door that the
//! cluster's own parts use, [`Server::store`] what lies behind it.

mod admission;
mod behaviour;
mod bootstrap;
mod catalog;
mod cel;
mod crd;
mod discovery;
#[doc(hidden)]
pub mod fuzz;
mod go_regex;
mod interrupt;
mod kinds;
mod may;
mod openapi;
pub mod pki;
mod request;
mod seeded;
mod serve;
mod server;
pub mod store;
mod table;
mod who;

pub use admission::webhook::{WebhookConnector, WebhookEndpoint, WebhookEndpoints};
pub use behaviour::{Behaviour, Behaviours, NodeControl, PodControl, PodFate, PodSelector, node};
pub use catalog::builtin_resources;
pub use may::{AnswerTimes, AuthorizationFailure, AuthorizationWebhook};
pub use request::{
    ApiBody, ApiRequest, ApiResponse, Content, InProcess, List, PatchKind, ServerBody, Warnings,
    Watch,
};
#[doc(hidden)]
pub use seeded::SeededFault;
pub use serve::{Error, ServingIdentity};
pub use server::{AdmissionPlugins, Server, ServerOptions};
pub use table::{Form, Included};
pub use who::User;
