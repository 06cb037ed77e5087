//! The server on a socket: TLS, HTTP/1.1 and HTTP/2, client certificates.

mod connection;
mod error;
mod identity;
mod listen;

pub use error::Error;
pub use identity::ServingIdentity;
