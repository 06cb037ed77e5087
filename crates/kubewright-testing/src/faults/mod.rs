//! What can go wrong between an operator under test and the API server, on purpose.
//!
//! There is one door for all of it: a layer on the operator's client. So the same test runs on
//! the embedded cluster and on a real one.

mod door;
mod fault;
mod script;
mod watch_body;

pub(crate) use door::Door;
pub use fault::{Fault, Injected};
pub(crate) use script::Script;
pub(crate) use watch_body::Ending;
