use std::sync::Arc;

use super::types::{ObjectType, Type};

/// The type of `request` (`BuildRequestType` of k8s.io/apiserver/pkg/admission/plugin/cel): an
/// admission request without its objects.
pub(super) fn request_type() -> Type {
    let strings = || Type::list(Type::String);
    let kind = || {
        let fields = ["group", "version", "kind"].map(text);
        object("kubernetes.GroupVersionKind", fields)
    };
    let resource = || {
        let fields = ["group", "version", "resource"].map(text);
        object("kubernetes.GroupVersionResource", fields)
    };
    let user = object(
        "kubernetes.UserInfo",
        [
            text("username"),
            text("uid"),
            ("groups", strings()),
            ("extra", Type::map(Type::String, strings())),
        ],
    );
    object(
        "kubernetes.AdmissionRequest",
        [
            ("kind", kind()),
            ("resource", resource()),
            text("subResource"),
            ("requestKind", kind()),
            ("requestResource", resource()),
            text("requestSubResource"),
            text("name"),
            text("namespace"),
            text("operation"),
            ("userInfo", user),
            ("dryRun", Type::Bool),
            ("options", Type::Dyn),
        ],
    )
}

/// The type of `namespaceObject` (`BuildNamespaceType`).
pub(super) fn namespace_type() -> Type {
    let texts = || Type::map(Type::String, Type::String);
    let metadata = object(
        "kubernetes.NamespaceMetadata",
        [
            text("name"),
            text("generateName"),
            text("namespace"),
            ("labels", texts()),
            ("annotations", texts()),
            text("UID"),
            ("creationTimestamp", Type::Timestamp),
            ("deletionGracePeriodSeconds", Type::Int),
            ("deletionTimestamp", Type::Timestamp),
            ("generation", Type::Int),
            text("resourceVersion"),
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
            text("status"),
            text("type"),
            ("lastTransitionTime", Type::Timestamp),
            text("message"),
            text("reason"),
        ],
    );
    let status = object(
        "kubernetes.NamespaceStatus",
        [("conditions", Type::list(condition)), text("phase")],
    );
    object(
        "kubernetes.Namespace",
        [("metadata", metadata), ("spec", spec), ("status", status)],
    )
}

fn text(name: &'static str) -> (&'static str, Type) {
    (name, Type::String)
}

/// Fields of these types are found by their own names: Kubernetes escapes only those of schemas.
fn object<const N: usize>(name: &str, fields: [(&'static str, Type); N]) -> Type {
    let fields = fields.map(|(name, of)| (name.to_owned(), (name.to_owned(), of)));
    Type::Object(Arc::new(ObjectType {
        name: name.to_owned(),
        fields: fields.into(),
    }))
}
