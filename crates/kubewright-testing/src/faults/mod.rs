//! Faults between an operator under test and the API server.
//!
//! A layer on the client of the operator injects them, so that a test works alike on the embedded
//! cluster and on a real one.

mod fault;
mod fault_injector;
mod fault_layer;
mod watch_body;

pub use fault::{Fault, Injected};
pub(crate) use fault_injector::FaultInjector;
pub(crate) use fault_layer::FaultLayer;
pub(crate) use watch_body::WatchEnd;
