//! What servers and clients share below HTTP: trust in certificates, and the limits of connections.
//!
//! A connection's way through a server: [`Incoming`] accepts it, the table of open connections
//! ([`Limits`]) finds room for it, TLS and HTTP are spoken over it by [`serve`], and what it is
//! doing ([`Activity`]) decides which one is closed when there is no room.

mod certificate;
mod client_stream;
mod connection;
mod der;
mod descriptors;
#[cfg(feature = "http2")]
mod http2;
mod incoming;
mod serve;
mod slots;
mod trust;

pub use certificate::CertificateFields;
pub use connection::{Http, Peer};
pub use descriptors::raise_descriptor_limit;
pub use incoming::{Incoming, PipeConnector, PipeListener, Stream, pipe};
pub use serve::{Serving, serve};
pub use slots::{Activity, Limits, Working, WorkingBody};
pub use trust::BundleVerifier;
