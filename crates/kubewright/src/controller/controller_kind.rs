use kube::CustomResourceExt;
use schemars::JsonSchema;
use serde_json::Value;

use super::TypedKind;
use super::definition::definition;
use crate::marker::{BuiltIn, Custom};

/// A kind that a controller can be for: a custom resource, whose definition the operator then
/// brings along, or a kind that Kubernetes has.
///
/// The parameter says which of the two; the compiler finds it.
#[diagnostic::on_unimplemented(
    message = "a controller cannot be for `{Self}`",
    label = "neither a custom resource nor a built-in kind",
    note = "the first argument of the reconcile function is `Arc<K>`, where `K` is a type of `k8s_openapi::api` or the struct that `#[derive(CustomResource)]` makes (named by `kind = \"..\"`, not the spec)"
)]
pub trait ControllerKind<M>: TypedKind {
    /// The kind's definition, when the operator brings it along.
    fn definition() -> Option<Value>;
}

#[diagnostic::do_not_recommend]
impl<K: TypedKind + CustomResourceExt + JsonSchema> ControllerKind<Custom> for K {
    fn definition() -> Option<Value> {
        definition::<K>()
    }
}

#[diagnostic::do_not_recommend]
impl<K: TypedKind + k8s_openapi::Resource> ControllerKind<BuiltIn> for K {
    fn definition() -> Option<Value> {
        None
    }
}
