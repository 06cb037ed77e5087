//! Sequences of requests that chance makes up: two writers create, replace, patch, apply and
//! delete a few objects. A seed decides all of it, so that a sequence can be had again.

mod dice;
mod sequence;
mod shrink;
mod subject;

pub use sequence::{definition, sequence};
pub use shrink::{Shrunk, shrink};
