//! The way to an API server and back: HTTP/1.1 over TLS, on connections that are kept.

mod address;
mod dialer;
mod headers;
mod service;
mod trust;

pub(super) use service::Transport;
