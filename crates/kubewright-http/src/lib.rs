//! Connections below HTTP, for servers and clients: TLS certificates and trust, limits of connections, graceful shutdown, and a certificate authority.
//!
//! A server's connection: [`Incoming`] accepts it, the table of open connections ([`Limits`])
//! assigns a slot to it, and [`serve`] does TLS and HTTP on it. When all slots are taken, the
//! [`Activity`] of each connection decides which one is closed for a new one.

mod certificate;
mod client_stream;
mod connection;
mod der;
mod descriptors;
#[cfg(feature = "http2")]
mod http2;
mod incoming;
#[cfg(feature = "pki")]
pub mod pki;
mod serve;
#[cfg(test)]
mod serve_tests;
mod slots;
mod trust;

pub use certificate::CertificateFields;
pub use connection::{Http, Peer};
pub use descriptors::raise_descriptor_limit;
pub use incoming::{Incoming, PipeConnector, PipeListener, Stream, pipe};
pub use serve::{Serving, serve};
pub use slots::{Activity, InFlight, InFlightBody, Limits};
pub use trust::BundleVerifier;
