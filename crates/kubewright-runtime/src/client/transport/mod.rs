//! The way to an API server: HTTP/1.1 over TLS on connections that are reused, or another client.

mod address;
mod dialer;
mod headers;
mod http_transport;
mod service;
mod trust;

pub use service::{RequestService, ResponseBody, Transport, with_layer};
