//! Random sequences of requests, in which two writers create, replace, patch, apply and delete a few
//! objects. A seed determines the whole sequence, so that a failure can be reproduced.

mod dice;
mod generate;
mod shrink;
mod subject;

pub use generate::{definition, sequence};
pub use shrink::{Shrunk, shrink};
