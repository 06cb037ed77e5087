use std::sync::Arc;

use crate::controller::TypedKind;
use crate::marker::{Plain, Shared};

/// What calls that take an object accept: `&K` and `&Arc<K>`.
///
/// The parameter says which of the two; the compiler finds it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a Kubernetes object",
    label = "expected `&K` or `&Arc<K>`, where `K` is a kind",
    note = "pass the object itself: a type of `k8s_openapi::api`, or the struct that `#[derive(CustomResource)]` makes; for several objects call it for each"
)]
pub trait Object<M> {
    /// Its kind.
    type Kind: TypedKind;

    /// The object.
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
