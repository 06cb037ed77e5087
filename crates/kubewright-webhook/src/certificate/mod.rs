//! Certificates of a webhook server: from the caller, from files that are watched, or issued and
//! rotated here.

mod certificates;
mod files;
mod rotation;

pub use certificates::Certificates;
pub use files::CertificateFiles;
pub use rotation::{Progress, Rotation, Stage};
