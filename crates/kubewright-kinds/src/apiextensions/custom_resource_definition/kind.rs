//! CustomResourceDefinition: declares a custom resource.

use serde_json::{Map, Value, json};

use super::validation::{check, check_update, unsupported};
use crate::error_list::ErrorList;
use crate::groups;
use crate::kind::{BuiltinKind, FinalizerRule, Generation, StorageEncoding, Validation};

/// Declares a custom resource.
pub static CUSTOM_RESOURCE_DEFINITION: BuiltinKind = BuiltinKind {
    finalizers: FinalizerRule::QualifiedName,
    generation: Generation::Content,
    storage_encoding: StorageEncoding::Json,
    defaults: apply_defaults,
    validation: Validation::Rules(validate),
    unsupported,
    ..BuiltinKind::new(
        groups::API_EXTENSIONS,
        "CustomResourceDefinition",
        "customresourcedefinitions",
    )
};

/// Sets the names that follow from the kind, the conversion strategy, and the port of a webhook.
fn apply_defaults(definition: &mut Map<String, Value>) {
    let Some(spec) = definition.get_mut("spec").and_then(Value::as_object_mut) else {
        return;
    };
    if spec.get("conversion").is_none_or(Value::is_null) {
        spec.insert("conversion".to_owned(), json!({"strategy": "None"}));
    }
    let service = spec
        .get_mut("conversion")
        .and_then(|conversion| conversion.pointer_mut("/webhook/clientConfig/service"));
    if let Some(service) = service.and_then(Value::as_object_mut) {
        service.entry("port").or_insert(json!(443));
    }
    let Some(names) = spec.get_mut("names").and_then(Value::as_object_mut) else {
        return;
    };
    let Some(kind) = names.get("kind").and_then(Value::as_str).map(str::to_owned) else {
        return;
    };
    for (field, value) in [
        ("singular", kind.to_lowercase()),
        ("listKind", format!("{kind}List")),
    ] {
        let is_empty = |present: &Value| present.as_str().is_none_or(str::is_empty);
        if names.get(field).is_none_or(is_empty) {
            names.insert(field.to_owned(), json!(value));
        }
    }
}

/// Validates a definition. `old` is the one that it replaces.
fn validate(value: &Value, old: Option<&Value>, errors: &mut ErrorList) {
    // An unsupported definition is valid: the response is 501, and not 422.
    if unsupported(value).is_some() {
        return;
    }
    let causes = match old {
        Some(old) => check_update(old, value),
        None => check(value),
    };
    causes.into_iter().for_each(|cause| errors.add(cause));
}
