//! What a controller is for, and what it watches, owns, reads and writes: values that say so.

mod build;
mod cache;
pub mod changed;
mod controller;
mod definition;
pub mod enqueue;
mod erased;
mod extent;
mod finalizer;
mod indexes;
pub mod only;
mod predicate;
mod reconciled;
mod reconciler;
mod selection;
pub mod sources;
mod typed;
mod wake;

pub use cache::Cache;
pub use controller::Controller;
pub(crate) use definition::definition;
pub(crate) use erased::{AnyView, Parts, Registered, Views};
pub(crate) use indexes::{Wanted, add_indexes, index_name};
pub use predicate::Predicate;
pub use reconciled::ControllerKind;
pub(crate) use selection::UnusedOption;
pub use selection::{Selection, kind, kind_of, projection};
pub(crate) use typed::ViewId;
pub use typed::{AnyKind, TypedKind, resource_of};
pub(crate) use wake::by_mapper;
