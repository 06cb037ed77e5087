//! Controllers: what they reconcile, and the kinds that they watch, own, read and write.

mod any_controller;
mod build;
mod builder;
mod controller_kind;
mod environment;
mod finalizer;
mod functions;
mod reconciler;
mod registration;
pub mod sources;

pub(crate) use any_controller::AnyController;
pub use builder::Controller;
pub use controller_kind::ControllerKind;
pub(crate) use environment::Environment;

pub use crate::kinds::{
    AnyKind, Cache, Predicate, Selection, TypedKind, changed, enqueue, only, projection,
    resource_of,
};
pub use kubewright_runtime::controller::{Handle, Retry};
pub use kubewright_runtime::reconcile_loop::{LoopKind, ReconcileLoop};
