//! Certificates: an authority, the key pairs that it signs, and keys that sign tokens.
//!
//! All keys are ECDSA on P-256. Nothing is written to disk.

mod authority;
mod error;
mod key_pair;
mod subject;

pub use authority::{Authority, SigningKey};
pub use error::Error;
pub use key_pair::KeyPairPem;
pub use subject::{Subject, Usage};
