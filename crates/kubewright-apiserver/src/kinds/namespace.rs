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

/// An update leaves the finalizers of the specification as they are: only `/finalize` takes them
/// away (`PrepareForUpdate` of pkg/registry/core/namespace).
pub(crate) fn keep_finalizers(old: &Value, namespace: &mut Value) {
    let stored = old.get("spec").and_then(|spec| spec.get("finalizers"));
    match (
        stored,
        namespace.get_mut("spec").and_then(Value::as_object_mut),
    ) {
        (Some(stored), Some(spec)) => {
            spec.insert("finalizers".to_owned(), stored.clone());
        }
        (Some(stored), None) => namespace["spec"] = json!({"finalizers": stored}),
        (None, Some(spec)) => {
            spec.remove("finalizers");
        }
        (None, None) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::keep_finalizers;

    #[test]
    fn the_finalizers_of_a_specification_stay_what_they_are() {
        let old = json!({"spec": {"finalizers": ["kubernetes"]}});
        for sent in [
            json!({"spec": {"finalizers": ["a/b"]}}),
            json!({"spec": {}}),
            json!({}),
        ] {
            let mut sent = sent;
            keep_finalizers(&old, &mut sent);
            assert_eq!(sent, old);
        }
        let mut sent = old;
        keep_finalizers(&json!({"spec": {}}), &mut sent);
        assert_eq!(sent, json!({"spec": {}}));
    }
}
