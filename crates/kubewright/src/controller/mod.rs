//! What a controller is for, and what it watches, owns, reads and writes: values that say so.

mod build;
mod builder;
mod cache;
pub mod changed;
mod controller_kind;
mod definition;
pub mod enqueue;
mod erased;
mod extent;
mod finalizer;
mod indexes;
pub mod only;
mod predicate;
mod reconciler;
pub(crate) mod selection;
pub mod sources;
mod typed;
mod wake;

pub use builder::Controller;
pub use cache::Cache;
pub use controller_kind::ControllerKind;
pub(crate) use definition::definition;
pub(crate) use erased::{AnyView, Parts, Registered, Views};
pub(crate) use indexes::{Wanted, add_indexes, index_name};
pub use predicate::Predicate;
pub(crate) use selection::UnusedOption;
pub use selection::{Selection, projection};
pub(crate) use typed::ViewId;
pub use typed::{AnyKind, TypedKind, resource_of};
pub(crate) use wake::by_mapper;

pub use kubewright_runtime::controller::{Handle, Retry};
pub use kubewright_runtime::reconcile_loop::{LoopKind, ReconcileLoop};
