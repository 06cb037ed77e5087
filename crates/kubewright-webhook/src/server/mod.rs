//! The webhook server: [`serve`] accepts connections, [`request`] reads a review, [`response`] calls
//! its handler.

mod handler;
mod metrics;
mod options;
mod request;
mod response;
mod routes;
mod serve;

pub use handler::{AdmissionHandler, AuthorizationHandler, ConversionHandler};
pub use kubewright_http::{Incoming, PipeConnector, PipeListener, pipe};
pub use metrics::{PathMetrics, WebhookMetrics};
pub use options::ServeOptions;
pub use routes::Routes;
pub use serve::WebhookServer;
