//! The arguments of calls that take an object.

use std::sync::Arc;

use crate::kinds::TypedKind;
use crate::marker::{Plain, Shared};

/// An argument of calls that take an object: `&K` or `&Arc<K>`.
///
/// The compiler infers the parameter, which distinguishes the two.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a Kubernetes object",
    label = "expected `&K` or `&Arc<K>`, where `K` is a kind",
    note = "pass the object itself: a type of `k8s_openapi::api`, or the struct that `#[derive(CustomResource)]` makes; for several objects call it for each"
)]
pub trait Object<M> {
    /// The kind of the object.
    type Kind: TypedKind;

    /// Returns the object.
    fn object(&self) -> &Self::Kind;
}

#[diagnostic::do_not_recommend]
impl<K: TypedKind> Object<Plain> for K {
    type Kind = K;

    fn object(&self) -> &K {
        self
    }
}

#[diagnostic::do_not_recommend]
impl<K: TypedKind> Object<Shared> for Arc<K> {
    type Kind = K;

    fn object(&self) -> &K {
        self
    }
}
