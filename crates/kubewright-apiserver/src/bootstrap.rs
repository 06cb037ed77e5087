//! The objects that every cluster has from its start.

use kubewright_kinds::BuiltinKind;
use kubewright_kinds::core::NAMESPACE;
use kubewright_kinds::scheduling::PRIORITY_CLASS;
use serde_json::{Value, json};

use crate::admission::system_classes;
use crate::authorization::bootstrap_objects;
use crate::request::Api;
use crate::store::{Expected, Key, metadata_mut};

const NAMESPACES: [&str; 4] = ["default", "kube-system", "kube-public", "kube-node-lease"];

/// Stores the objects that every cluster has from its start, unless they exist.
pub(crate) fn fill(api: &Api) {
    for name in NAMESPACES {
        let mut namespace = json!({"metadata": {"name": name}});
        if let Some(object) = namespace.as_object_mut() {
            NAMESPACE.prepare_create(object);
            NAMESPACE.canonicalize(object);
        }
        add(api, &NAMESPACE, namespace);
    }
    for (kind, object) in bootstrap_objects() {
        add(api, kind, object.clone());
    }
    for class in system_classes() {
        add(api, &PRIORITY_CLASS, class);
    }
}

fn add(api: &Api, kind: &BuiltinKind, mut object: Value) {
    let versioned = kind.in_version("v1");
    object["apiVersion"] = json!(versioned.api_version());
    object["kind"] = json!(versioned.kind);
    let metadata = metadata_mut(&mut object);
    metadata.insert("uid".to_owned(), json!(api.random.uid()));
    metadata.insert("creationTimestamp".to_owned(), json!(api.timestamp()));
    let text = |field: &str| metadata.get(field).and_then(Value::as_str);
    let (name, namespace) = (text("name"), text("namespace"));
    let key = Key::new(kind.resource_id(), namespace, name.unwrap_or_default());
    if api.store.put(key, Expected::Absent, object).is_err() {
        tracing::debug!(kind = kind.kind, "bootstrap object exists already");
    }
}
