//! The traits of kinds: with a Rust type of their own, or known only at run time.

use std::any::TypeId;
use std::fmt::Debug;

use kube::core::ClusterResourceScope;
use kubewright_core::{Kind, Resource, Scope};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// An object of a kind that is known at compile time ([`TypedKind`]) or only at run time
/// ([`DynamicObject`](kube::core::DynamicObject)).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a Kubernetes kind that a controller can read and write",
    label = "not a kind with a type of its own",
    note = "use a type of `k8s_openapi::api`, or derive your own with `#[derive(CustomResource)]`; with that derive the kind is the struct named by `kind = \"..\"`, not the spec",
    note = "a kind is also `Clone`, `Debug`, `Serialize` and `Deserialize`"
)]
pub trait AnyKind:
    kube::Resource + Clone + Debug + Serialize + DeserializeOwned + Send + Sync + 'static
{
}

#[diagnostic::do_not_recommend]
impl<K> AnyKind for K where
    K: kube::Resource + Clone + Debug + Serialize + DeserializeOwned + Send + Sync + 'static
{
}

/// A kind with a Rust type: a custom resource of kube's derive, or a type of `k8s_openapi`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a Kubernetes kind that a controller can read and write",
    label = "not a kind with a type of its own",
    note = "use a type of `k8s_openapi::api`, or derive your own with `#[derive(CustomResource)]`; with that derive the kind is the struct named by `kind = \"..\"`, not the spec",
    note = "a kind is also `Clone`, `Debug`, `Serialize` and `Deserialize`"
)]
pub trait TypedKind:
    kube::Resource<DynamicType = (), Scope: 'static>
    + Clone
    + Debug
    + Serialize
    + DeserializeOwned
    + Send
    + Sync
    + 'static
{
}

#[diagnostic::do_not_recommend]
impl<K> TypedKind for K where
    K: kube::Resource<DynamicType = (), Scope: 'static>
        + Clone
        + Debug
        + Serialize
        + DeserializeOwned
        + Send
        + Sync
        + 'static
{
}

/// Returns the resource that serves the kind.
///
/// ```
/// use kubewright::controller::resource_of;
/// use kubewright::k8s_openapi::api::core::v1::Pod;
///
/// assert_eq!(resource_of::<Pod>().path(Some("web")), "/api/v1/namespaces/web/pods");
/// ```
pub fn resource_of<K: TypedKind>() -> Resource {
    let kind = Kind::new(K::group(&()), K::version(&()), K::kind(&()));
    let scope = if TypeId::of::<K::Scope>() == TypeId::of::<ClusterResourceScope>() {
        Scope::Cluster
    } else {
        Scope::Namespaced
    };
    Resource::new(kind, K::plural(&()), scope)
}
