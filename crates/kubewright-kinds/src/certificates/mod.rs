//! The kinds of the group certificates.k8s.io.

mod certificate_signing_request;

pub use certificate_signing_request::CERTIFICATE_SIGNING_REQUEST;
