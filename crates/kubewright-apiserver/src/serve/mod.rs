//! The server on a socket: TLS, HTTP/1.1 and, by a feature, HTTP/2, client certificates.

mod error;
mod identity;
mod listen;

pub use error::Error;
pub use identity::ServingIdentity;
