//! Clients of an API server: configuration, credentials, transport, and the layers that requests
//! pass.
//!
//! A client is a stack of [`tower`] layers around a [`Transport`]. A layer sees every request of the
//! client, typed or not. [`RequestFilter`] is the simple form: a function before the request and one
//! after the response. [`WriteOptions`], [`Namespaced`] and [`RequestMetrics`] are filters, and
//! [`ClientLimits`] has layers for rate limit, retries and timeout.

mod blocked;
mod config;
mod connect;
mod connect_error;
mod credentials;
mod error_reason;
pub mod limits;
mod namespaced;
mod proxy;
mod query;
mod request_filter;
mod request_metrics;
mod response_stream;
mod retry;
mod transport;
mod write_options;

pub use blocked::Blocked;
pub(crate) use blocked::unwrap_service_error;
pub use connect::{connect, load_config, load_merged};
pub use error_reason::ErrorReason;
pub use limits::ClientLimits;
pub use namespaced::Namespaced;
pub use proxy::honor_no_proxy;
pub use query::Query;
pub use request_filter::{Filtered, FilteredFuture, RequestFilter, RequestFilterLayer};
pub use request_metrics::{RequestMetrics, StartedRequest};
pub use response_stream::{ResponseStream, get_json_stream, get_stream};
pub use retry::{Conflict, RetryPolicy, retry_if, retry_on_conflict};
pub use transport::{RequestService, ResponseBody, Transport, with_layer};
pub use write_options::{FieldValidation, WriteOptions};
