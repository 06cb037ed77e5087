//! Namespace: a scope for the names of other objects.

use kubewright_core::NameRule;
use kubewright_core::format::qualified_name;
use kubewright_wire::status::Cause;
use serde_json::{Map, Value, json};

use crate::columns::{AGE, Cell, Column, NAME};
use crate::error_list::ErrorList;
use crate::field_path::FieldPath;
use crate::groups;
use crate::json::{items, object_mut, set_absent, text};
use crate::kind::{BuiltinKind, DeleteResponse, SelectableField, StatusStrategy, Validation};

/// A scope for the names of other objects.
pub static NAMESPACE: BuiltinKind = BuiltinKind {
    names: NameRule::Label,
    protected_names: &["default", "kube-system", "kube-public"],
    delete_response: DeleteResponse::Object,
    selectable_fields: &[SelectableField::new("status.phase")],
    declared_columns: COLUMNS,
    defaults: set_name_label,
    prepare_create,
    prepare_update,
    canonicalize: set_name_label,
    status: StatusStrategy {
        validate: validate_status,
        ..StatusStrategy::DEFAULT
    },
    validation: Validation::Rules(validate),
    ..BuiltinKind::new(groups::CORE, "Namespace", "namespaces")
};

const STANDARD_FINALIZERS: [&str; 3] = ["kubernetes", "orphan", "foregroundDeletion"];

const COLUMNS: &[Column] = &[
    NAME,
    Column::text("Status", Cell::Text("/status/phase")),
    AGE,
];

/// `SetDefaults_Namespace`, and `Canonicalize` once a name is generated.
fn set_name_label(object: &mut Map<String, Value>) {
    let Some(metadata) = object_mut(object, "metadata") else {
        return;
    };
    let name = metadata.get("name").and_then(Value::as_str);
    let Some(name) = name.filter(|name| !name.is_empty()).map(str::to_owned) else {
        return;
    };
    set_absent(metadata, "labels", json!({}));
    if let Some(labels) = object_mut(metadata, "labels") {
        labels.insert("kubernetes.io/metadata.name".to_owned(), json!(name));
    }
}

/// A new Namespace is active and has the finalizer `kubernetes`, which its deletion waits for.
fn prepare_create(object: &mut Map<String, Value>) {
    object.insert("status".to_owned(), json!({"phase": "Active"}));
    let spec = object.entry("spec").or_insert_with(|| json!({}));
    if items(&spec["finalizers"]).any(|finalizer| finalizer == "kubernetes") {
        return;
    }
    match spec["finalizers"].as_array_mut() {
        Some(finalizers) => finalizers.push(json!("kubernetes")),
        None => spec["finalizers"] = json!(["kubernetes"]),
    }
}

/// Only the subresource `finalize` changes `spec.finalizers` (`PrepareForUpdate` of
/// pkg/registry/core/namespace).
fn prepare_update(old: &Value, namespace: &mut Map<String, Value>) {
    match (old["spec"].get("finalizers"), object_mut(namespace, "spec")) {
        (Some(stored), Some(spec)) => {
            spec.insert("finalizers".to_owned(), stored.clone());
        }
        (Some(stored), None) => {
            namespace.insert("spec".to_owned(), json!({"finalizers": stored}));
        }
        (None, Some(spec)) => {
            spec.remove("finalizers");
        }
        (None, None) => {}
    }
}

/// `ValidateNamespace`.
fn validate(object: &Value, old: Option<&Value>, errors: &mut ErrorList) {
    if old.is_some() {
        return;
    }
    let spec = FieldPath::new(object, "spec");
    let finalizers = spec.field("finalizers");
    for name in finalizers.items() {
        validate_finalizer(finalizers, name.value(), errors);
    }
}

/// The errors of a write to the subresource `finalize` (`ValidateNamespaceFinalizeUpdate`).
pub fn validate_finalized(object: &Value) -> Vec<Cause> {
    let mut errors = ErrorList::default();
    let spec = FieldPath::new(object, "spec");
    let finalizers = spec.field("finalizers");
    for name in finalizers.items() {
        validate_finalizer(name, name.value(), &mut errors);
    }
    errors.into_causes()
}

/// `validateFinalizerName`.
fn validate_finalizer(at: FieldPath<'_>, name: &Value, errors: &mut ErrorList) {
    let finalizer = text(name);
    for problem in qualified_name(finalizer) {
        errors.invalid_value(at, name, &problem);
    }
    if !finalizer.contains('/') && !STANDARD_FINALIZERS.contains(&finalizer) {
        let detail = "name is neither a standard finalizer name nor is it fully qualified";
        errors.invalid_value(at, name, detail);
    }
}

/// `ValidateNamespaceStatusUpdate`.
fn validate_status(object: &Value, _old: &Value, errors: &mut ErrorList) {
    let status = FieldPath::new(object, "status");
    let phase = json!(status.text_of("phase"));
    // Kubernetes spells the field as Go does.
    let at = status.field("Phase");
    let is_terminating = object["metadata"]["deletionTimestamp"].is_string();
    if is_terminating && phase != "Terminating" {
        let detail = "may only be 'Terminating' if `deletionTimestamp` is not empty";
        errors.invalid_value(at, &phase, detail);
    }
    if !is_terminating && phase != "Active" {
        let detail = "may only be 'Active' if `deletionTimestamp` is empty";
        errors.invalid_value(at, &phase, detail);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::NAMESPACE;

    #[test]
    fn update_does_not_change_the_finalizers_of_the_spec() {
        let old = json!({"spec": {"finalizers": ["kubernetes"]}});
        for mut sent in [
            json!({"spec": {"finalizers": ["a/b"]}}),
            json!({"spec": {}}),
            json!({}),
        ] {
            NAMESPACE.prepare_update(&old, sent.as_object_mut().unwrap());
            assert_eq!(sent, old);
        }
        let mut sent = old;
        NAMESPACE.prepare_update(&json!({"spec": {}}), sent.as_object_mut().unwrap());
        assert_eq!(sent, json!({"spec": {}}));
    }

    #[test]
    fn generated_name_is_in_the_label() {
        let mut namespace = json!({"metadata": {"generateName": "a-", "name": "a-x"}});
        NAMESPACE.canonicalize(namespace.as_object_mut().unwrap());
        assert_eq!(
            namespace["metadata"]["labels"],
            json!({"kubernetes.io/metadata.name": "a-x"})
        );
    }

    #[test]
    fn namespace_is_active_until_it_is_deleted() {
        let new = json!({"metadata": {}, "status": {"phase": "Terminating"}});
        assert_eq!(
            NAMESPACE.status_errors(&new, &json!({})),
            [
                "status.Phase: Invalid value: \"Terminating\": may only be 'Active' if \
                 `deletionTimestamp` is empty"
            ]
        );
    }
}
