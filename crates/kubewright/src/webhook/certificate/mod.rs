//! A serving certificate that the operator manages: a Secret that all replicas share, and the CA
//! bundles of the objects that refer to its webhooks.

mod ca_bundle;
mod request;
mod rotator;
mod secret;

pub(crate) use rotator::CertificateRotator;
pub use rotator::ManagedCertificates;
