//! The certificates of a cluster: one authority, the identities it signs, and the key that signs
//! ServiceAccount tokens.
//!
//! Everything is ECDSA on P-256 and lives in memory until the caller writes it somewhere.

mod authority;
mod error;
mod subject;

pub use authority::{Authority, Identity, SigningKey};
pub use error::Error;
pub use subject::{Subject, Usage};
