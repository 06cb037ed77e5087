//! What a controller is for, and what it watches, owns, reads and writes: values that say so.

mod cache;
pub mod changed;
mod controller;
pub mod enqueue;
mod erased;
mod predicate;
mod reconciled;
mod selection;
mod typed;
mod wake;

pub use cache::Cache;
pub use controller::Controller;
#[cfg(test)]
pub(crate) use erased::AnyView;
pub(crate) use erased::{Parts, Registered, Views};
pub use predicate::Predicate;
pub use reconciled::ControllerKind;
pub use selection::{Selection, kind};
pub use typed::{TypedKind, resource_of};
