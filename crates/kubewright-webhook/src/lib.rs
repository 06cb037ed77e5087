//! A server for admission, conversion and authorization webhooks: TLS, reviews, conversion through a hub, JSON patches of changed objects, rotation of certificates. No client.
//!
//! [`Routes`] has the handlers, [`WebhookServer`] serves them over TLS, on a socket or on a pipe in
//! this process, with [`Certificates`] that can be replaced while it runs:
//!
//! ```
//! use std::sync::Arc;
//!
//! use kubewright_webhook::review::AdmissionResponse;
//! use kubewright_webhook::pki::Authority;
//! use kubewright_webhook::{Certificates, Routes, WebhookServer};
//!
//! let routes = Routes::default().admission(
//!     "/validate-ex-io-v1-site",
//!     Arc::new(|_request, _deadline| Box::pin(async { AdmissionResponse::allowed() })),
//! );
//! let authority = Authority::new("site webhooks")?;
//! let certificates = Certificates::new(&authority.issue_server(&["localhost"])?)?;
//! let server = WebhookServer::new(routes, certificates);
//! # drop(server);
//! # Ok::<(), kubewright_webhook::Error>(())
//! ```

pub mod certificate;
pub mod conversion;
mod error;
pub mod patch;
mod server;

pub use certificate::{CertificateFiles, Certificates, Rotation};
pub use error::Error;
pub use kubewright_http::pki;
pub use kubewright_wire::review;
pub use server::{
    AdmissionHandler, AuthorizationHandler, ConversionHandler, Incoming, PathMetrics,
    PipeConnector, PipeListener, Routes, ServeOptions, WebhookMetrics, WebhookServer, pipe,
};
