//! The defaults in schemas.

use kubewright_core::Kind;
use kubewright_wire::schema;
use kubewright_wire::status::Cause;
use serde_json::{Value, json};

use crate::custom::Structural;
use crate::custom::validate;

/// Defaults are valid by their own schema (`ValidateDefaults` of
/// k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting).
pub(super) fn check_defaults(schema: &Value, path: &str) -> Vec<Cause> {
    let mut causes = Vec::new();
    walk(schema, path, &mut causes);
    causes
}

fn walk(schema: &Value, path: &str, causes: &mut Vec<Cause>) {
    if let Some(default) = schema.get("default").filter(|default| !default.is_null()) {
        causes.extend(check(default, schema, &format!("{path}.default")));
    }
    if let Some(items) = schema.get("items").filter(|items| items.is_object()) {
        walk(items, &format!("{path}.items"), causes);
    }
    for (name, below) in schema["properties"].as_object().into_iter().flatten() {
        walk(below, &format!("{path}.properties[{name}]"), causes);
    }
}

fn check(default: &Value, schema: &Value, path: &str) -> Vec<Cause> {
    if has_unknown(default, schema) {
        let detail = "must not have unknown fields";
        return vec![Cause::invalid(path, default, detail)];
    }
    // The path of the value itself is empty.
    let causes = validate(default, None, &Structural::compile(schema));
    let with_path = |mut cause: Cause| {
        cause.field = match cause.field.as_str() {
            "" => path.to_owned(),
            field => format!("{path}.{field}"),
        };
        cause
    };
    causes.into_iter().map(with_path).collect()
}

/// Whether a default has fields that pruning by its schema would drop.
fn has_unknown(default: &Value, schema: &Value) -> bool {
    let kind = Kind::new("validation", "v1", "Default");
    let parent = json!({"type": "object", "properties": {"value": schema}});
    let Ok(types) = schema::from_crd(&kind, Some(&parent)) else {
        return false;
    };
    let mut value = json!({"value": default});
    let of_kind = types.kind(&kind);
    of_kind.is_some_and(|of_kind| !schema::prune(&mut value, of_kind).is_empty())
}
