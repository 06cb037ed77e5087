//! Secret.

mod key_pair;
mod kind;

pub use kind::SECRET;
