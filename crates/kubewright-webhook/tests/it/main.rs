//! The webhook server over TLS, as the API server sees it.

mod client;
#[cfg(feature = "http2")]
mod http2;
mod serving;
