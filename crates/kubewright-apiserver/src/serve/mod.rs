//! The server on a socket: TLS, HTTP/1.1 and, by a feature, HTTP/2, client certificates.

mod connection;
mod error;
#[cfg(feature = "http2")]
mod http2;
mod identity;
mod listen;
mod patient;

pub use error::Error;
pub use identity::ServingIdentity;
