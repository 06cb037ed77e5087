//! Reaching an API server: where it is, with which settings, what all requests go through, and raw
//! answers as streams of bytes.

mod blocked;
mod config;
mod connect;
mod credentials;
mod error_reason;
mod fault;
mod guard;
mod manners;
mod namespaced;
mod proxy;
mod query;
mod request_metrics;
mod response_stream;
mod retry;
mod service;
mod transport;
mod write_options;

pub use blocked::Blocked;
pub(crate) use blocked::unwrap_service_error;
pub use connect::{connect, load_config, load_merged};
pub use error_reason::ErrorReason;
pub use guard::{Guard, Guarded, guarded};
pub use manners::Manners;
pub use namespaced::Namespaced;
pub use proxy::honor_no_proxy;
pub use query::Query;
pub use request_metrics::RequestMetrics;
pub use response_stream::{ResponseStream, get_json_stream, get_stream};
pub use retry::{Conflict, RetryPolicy, retry_if, retry_on_conflict};
pub use service::{ClientService, rebuilt};
pub use write_options::{FieldValidation, WriteOptions};
