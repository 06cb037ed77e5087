//! Certificates of a webhook server: given, read from files and read again, or made here.

mod authority;
mod certificates;
mod files;
mod rotation;

pub use authority::LocalAuthority;
pub use certificates::{Certificates, KeyPairPem};
pub use files::CertificateFiles;
pub use rotation::{Progress, Rotation, Stage};
