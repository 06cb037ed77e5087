//! Admission, conversion and authorization webhooks as protocol and server, and the making of certificates. No client.
//!
//! [`Routes`] says what is answered where, [`WebhookServer`] serves it over TLS, on a socket or on
//! a pipe in this process, with [`Certificates`] that can be replaced while it runs:
//!
//! ```
//! use std::sync::Arc;
//!
//! use kubewright_webhook::review::AdmissionResponse;
//! use kubewright_webhook::{Certificates, LocalAuthority, Routes, WebhookServer};
//!
//! let routes = Routes::default().admission(
//!     "/validate-ex-io-v1-site",
//!     Arc::new(|_request, _deadline| Box::pin(async { AdmissionResponse::allowed() })),
//! );
//! let authority = LocalAuthority::new("site webhooks")?;
//! let certificates = Certificates::new(&authority.issue(&["localhost"])?)?;
//! let server = WebhookServer::new(routes, certificates);
//! # drop(server);
//! # Ok::<(), kubewright_webhook::Error>(())
//! ```

pub mod certificate;
pub mod conversion;
mod error;
pub mod patch;
mod server;

pub use certificate::{CertificateFiles, Certificates, KeyPairPem, LocalAuthority, Rotation};
pub use error::Error;
pub use kubewright_wire::review;
pub use server::{
    AdmissionHandler, AuthorizationHandler, ConversionHandler, Incoming, PathMetrics,
    PipeConnector, PipeListener, Routes, ServeOptions, WebhookMetrics, WebhookServer, pipe,
};
