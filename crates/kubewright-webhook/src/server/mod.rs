//! The server: connections in, reviews answered.

mod answer;
mod connection;
#[cfg(feature = "http2")]
mod http2;
mod incoming;
mod metrics;
mod routes;
mod serve;

pub use incoming::{Incoming, PipeConnector, PipeListener, Stream, pipe};
pub use metrics::{PathMetrics, WebhookMetrics};
pub use routes::{AdmissionHandler, AuthorizationHandler, ConversionHandler, Routes};
pub use serve::{ServeOptions, WebhookServer};
