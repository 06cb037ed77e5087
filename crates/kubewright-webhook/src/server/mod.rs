//! The server: connections in, reviews answered.

mod answer;
mod metrics;
mod routes;
mod serve;

pub use kubewright_http::{Incoming, PipeConnector, PipeListener, pipe};
pub use metrics::{PathMetrics, WebhookMetrics};
pub use routes::{AdmissionHandler, AuthorizationHandler, ConversionHandler, Routes};
pub use serve::{ServeOptions, WebhookServer};
