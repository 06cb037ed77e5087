use serde_json::{Map, Value, json};

/// Namespaces that a cluster cannot be without (`NamespaceLifecycle`).
pub(crate) fn is_undeletable(name: &str) -> bool {
    matches!(name, "default" | "kube-system" | "kube-public")
}

/// A new Namespace is active and carries the finalizer that its deletion waits for.
pub(super) fn prepare_create(object: &mut Map<String, Value>) {
    object.insert("status".to_owned(), json!({"phase": "Active"}));
    let spec = object.entry("spec").or_insert_with(|| json!({}));
    let finalizers = spec
        .get("finalizers")
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default();
    if !finalizers.iter().any(|one| one == "kubernetes") {
        let mut finalizers = finalizers;
        finalizers.push(json!("kubernetes"));
        spec["finalizers"] = Value::Array(finalizers);
    }
}
