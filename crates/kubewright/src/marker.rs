//! Types that tell apart the ways in which a trait is implemented. The compiler finds the right
//! one; nobody writes them.

/// A custom resource, in [`ControllerKind`](crate::controller::ControllerKind).
#[derive(Clone, Copy, Debug)]
pub enum Custom {}

/// A kind that Kubernetes has, in [`ControllerKind`](crate::controller::ControllerKind).
#[derive(Clone, Copy, Debug)]
pub enum BuiltIn {}

/// The object itself, in [`Object`](crate::context::Object).
#[derive(Clone, Copy, Debug)]
pub enum Plain {}

/// An `Arc` of the object, in [`Object`](crate::context::Object).
#[derive(Clone, Copy, Debug)]
pub enum Shared {}
