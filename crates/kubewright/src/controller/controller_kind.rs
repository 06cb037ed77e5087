//! The kinds that a controller can reconcile.

use kube::CustomResourceExt;
use schemars::JsonSchema;
use serde_json::Value;

use crate::kinds::{TypedKind, custom_resource_definition};
use crate::marker::{BuiltIn, Custom};

/// A kind that a controller can reconcile: a custom resource, whose definition the operator then
/// installs, or a built-in kind.
///
/// The compiler infers the parameter, which distinguishes the two.
#[diagnostic::on_unimplemented(
    message = "a controller cannot be for `{Self}`",
    label = "neither a custom resource nor a built-in kind",
    note = "the first argument of the reconcile function is `Arc<K>`, where `K` is a type of `k8s_openapi::api` or the struct that `#[derive(CustomResource)]` makes (named by `kind = \"..\"`, not the spec)"
)]
pub trait ControllerKind<M>: TypedKind {
    /// Returns the definition of the kind, if the operator installs it.
    fn definition() -> Option<Value>;
}

#[diagnostic::do_not_recommend]
impl<K: TypedKind + CustomResourceExt + JsonSchema> ControllerKind<Custom> for K {
    fn definition() -> Option<Value> {
        custom_resource_definition::<K>()
    }
}

#[diagnostic::do_not_recommend]
impl<K: TypedKind + k8s_openapi::Resource> ControllerKind<BuiltIn> for K {
    fn definition() -> Option<Value> {
        None
    }
}
