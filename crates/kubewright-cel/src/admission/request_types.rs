//! The types of the variables that describe an admission request
//! (k8s.io/apiserver/pkg/admission/plugin/cel).

use std::sync::Arc;

use crate::values::{ObjectType, Type};

/// The type of `request` (`BuildRequestType`): an admission request without its objects.
pub(super) fn request_type() -> Type {
    let strings = || Type::list(Type::String);
    let kind = || {
        let fields = ["group", "version", "kind"].map(string);
        object("kubernetes.GroupVersionKind", fields)
    };
    let resource = || {
        let fields = ["group", "version", "resource"].map(string);
        object("kubernetes.GroupVersionResource", fields)
    };
    let user = object(
        "kubernetes.UserInfo",
        [
            string("username"),
            string("uid"),
            ("groups", strings()),
            ("extra", Type::map(Type::String, strings())),
        ],
    );
    object(
        "kubernetes.AdmissionRequest",
        [
            ("kind", kind()),
            ("resource", resource()),
            string("subResource"),
            ("requestKind", kind()),
            ("requestResource", resource()),
            string("requestSubResource"),
            string("name"),
            string("namespace"),
            string("operation"),
            ("userInfo", user),
            ("dryRun", Type::Bool),
            ("options", Type::Dyn),
        ],
    )
}

/// The type of `namespaceObject` (`BuildNamespaceType`).
pub(super) fn namespace_type() -> Type {
    let strings_by_name = || Type::map(Type::String, Type::String);
    let metadata = object(
        "kubernetes.NamespaceMetadata",
        [
            string("name"),
            string("generateName"),
            string("namespace"),
            ("labels", strings_by_name()),
            ("annotations", strings_by_name()),
            string("UID"),
            ("creationTimestamp", Type::Timestamp),
            ("deletionGracePeriodSeconds", Type::Int),
            ("deletionTimestamp", Type::Timestamp),
            ("generation", Type::Int),
            string("resourceVersion"),
            ("finalizers", Type::list(Type::String)),
        ],
    );
    let spec = object(
        "kubernetes.NamespaceSpec",
        [("finalizers", Type::list(Type::String))],
    );
    let condition = object(
        "kubernetes.NamespaceCondition",
        [
            string("status"),
            string("type"),
            ("lastTransitionTime", Type::Timestamp),
            string("message"),
            string("reason"),
        ],
    );
    let status = object(
        "kubernetes.NamespaceStatus",
        [("conditions", Type::list(condition)), string("phase")],
    );
    object(
        "kubernetes.Namespace",
        [("metadata", metadata), ("spec", spec), ("status", status)],
    )
}

fn string(name: &'static str) -> (&'static str, Type) {
    (name, Type::String)
}

/// An object type. Its fields are not escaped: Kubernetes escapes only those of schemas.
fn object<const N: usize>(name: &str, fields: [(&'static str, Type); N]) -> Type {
    let of = fields
        .into_iter()
        .fold(ObjectType::new(name), |object, (name, of)| {
            object.field(name, of)
        });
    Type::Object(Arc::new(of))
}
