//! The webhook server over TLS, as the API server sees it.

mod client;
mod serving;
