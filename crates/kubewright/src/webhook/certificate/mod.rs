//! The certificate that webhooks are served with, when the operator looks after it itself: a Secret
//! that all replicas share, and the authorities that the API server trusts.

mod bundle;
mod keeper;
mod secret;

pub(crate) use keeper::CertificateKeeper;
pub use keeper::ManagedCertificates;
