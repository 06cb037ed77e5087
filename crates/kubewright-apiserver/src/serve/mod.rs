//! The server over HTTP: on a socket with TLS, and as a service in this process.
//!
//! `handle` has the steps of a request: authentication, authorization, content negotiation, and
//! then discovery or the handler of the object; `encode` turns the result into a response.

mod body_budget;
mod encode;
mod error;
mod gzip;
mod gzip_encoder;
mod handle;
mod identity;
mod in_process;
mod listen;
mod negotiate;
mod response_body;
mod warning_headers;

pub(crate) use body_budget::BodyBudget;
pub use error::Error;
pub use identity::ServingIdentity;
pub use in_process::InProcess;
pub(crate) use listen::listen;
pub use response_body::ServerBody;
