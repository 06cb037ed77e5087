//! Marker types that distinguish implementations of a trait. The compiler infers them.

/// A custom resource, for [`ControllerKind`](crate::controller::ControllerKind).
#[derive(Clone, Copy, Debug)]
pub enum Custom {}

/// A built-in kind, for [`ControllerKind`](crate::controller::ControllerKind).
#[derive(Clone, Copy, Debug)]
pub enum BuiltIn {}

/// A reference to the object, for [`Object`](crate::context::Object).
#[derive(Clone, Copy, Debug)]
pub enum Plain {}

/// A reference to an `Arc` of the object, for [`Object`](crate::context::Object).
#[derive(Clone, Copy, Debug)]
pub enum Shared {}
