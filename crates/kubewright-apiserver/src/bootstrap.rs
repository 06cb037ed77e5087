use std::sync::Arc;

use kubewright_core::Kind;
use serde_json::{Value, json};

use crate::admission::system_classes;
use crate::catalog::builtins;
use crate::kinds::prepare_create;
use crate::may::bootstrap_objects;
use crate::server::Server;
use crate::store::{Expected, Key, metadata_mut};

const NAMESPACES: [&str; 4] = ["default", "kube-system", "kube-public", "kube-node-lease"];

/// What every cluster has from its start.
pub(crate) fn fill(server: &Server) {
    for name in NAMESPACES {
        let mut namespace = json!({
            "apiVersion": "v1", "kind": "Namespace",
            "metadata": {"name": name, "labels": {"kubernetes.io/metadata.name": name}},
        });
        if let Some(object) = namespace.as_object_mut() {
            prepare_create(&Kind::new("", "v1", "Namespace"), object);
        }
        add(server, "", "namespaces", namespace);
    }
    for (plural, object) in bootstrap_objects() {
        add(server, "rbac.authorization.k8s.io", plural, object.clone());
    }
    for class in system_classes() {
        add(server, "scheduling.k8s.io", "priorityclasses", class);
    }
}

fn add(server: &Server, group: &str, plural: &str, mut object: Value) {
    let Some(served) = builtins().find(group, "v1", plural) else {
        return;
    };
    object["apiVersion"] = json!(served.kind().api_version());
    object["kind"] = json!(served.kind().kind);
    let metadata = metadata_mut(&mut object);
    metadata.insert("uid".to_owned(), json!(server.random().uid()));
    metadata.insert("creationTimestamp".to_owned(), json!(server.timestamp()));
    let text = |field: &str| metadata.get(field).and_then(Value::as_str);
    let (name, namespace) = (text("name"), text("namespace"));
    let key = Key::new(Arc::clone(&served.id), namespace, name.unwrap_or_default());
    if server.store().put(key, Expected::Absent, object).is_err() {
        tracing::debug!(plural, "an object of the start is there already");
    }
}
