//! Schemas of types whose JSON differs from their Rust type: quantities, int-or-string, metadata.

use serde_json::{Map, Value, json};

/// The pattern of a quantity, as controller-gen writes it (pkg/crd/known_types.go of
/// sigs.k8s.io/controller-tools).
const QUANTITY_PATTERN: &str = r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$";

/// The metadata that a template can have, before its object exists.
const TEMPLATE_METADATA: [&str; 5] = ["annotations", "finalizers", "labels", "name", "namespace"];

/// Rewrites the schema of a type whose JSON differs from its Rust type. Returns whether the type is
/// one of these.
pub(super) fn rewrite(type_name: &str, schema: &mut Map<String, Value>) -> bool {
    let short = type_name.rsplit('.').next().unwrap_or_default();
    match short {
        "Quantity" => {
            int_or_string(schema);
            schema.insert("pattern".to_owned(), QUANTITY_PATTERN.into());
        }
        "IntOrString" => int_or_string(schema),
        "RawExtension" => {
            schema.insert("type".to_owned(), json!("object"));
            schema.insert(
                "x-kubernetes-preserve-unknown-fields".to_owned(),
                json!(true),
            );
        }
        "ObjectMeta" => template_metadata(schema),
        _ => return false,
    }
    true
}

/// Adds the two types of an int-or-string, as controller-gen does; kube's derive removes them.
pub(super) fn add_int_or_string_types(schema: &mut Map<String, Value>) {
    let flag = schema.get("x-kubernetes-int-or-string");
    if flag.is_some_and(|flag| *flag == json!(true)) {
        int_or_string(schema);
    }
}

fn int_or_string(schema: &mut Map<String, Value>) {
    let types = json!([{"type": "integer"}, {"type": "string"}]);
    schema.remove("type");
    schema.insert("anyOf".to_owned(), types);
    schema.insert("x-kubernetes-int-or-string".to_owned(), json!(true));
}

/// Removes the fields of metadata that the API server sets: a template's metadata is copied to
/// other objects.
fn template_metadata(schema: &mut Map<String, Value>) {
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.retain(|name, _| TEMPLATE_METADATA.contains(&name.as_str()));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::rewrite;

    #[test]
    fn quantity_is_an_integer_or_a_string_with_a_pattern() {
        let mut schema = json!({"description": "How much."});
        let name = "io.k8s.apimachinery.pkg.api.resource.Quantity";
        assert!(rewrite(name, schema.as_object_mut().unwrap()));
        assert_eq!(
            schema["anyOf"],
            json!([{"type": "integer"}, {"type": "string"}])
        );
        assert_eq!(schema["x-kubernetes-int-or-string"], true);
        let pattern = schema["pattern"].as_str().unwrap();
        assert!(pattern.starts_with(r"^(\+|-)?(([0-9]+"), "{pattern}");
    }

    #[test]
    fn template_metadata_has_only_fields_that_users_set() {
        let mut schema = json!({"type": "object", "properties": {
            "labels": {"type": "object"}, "uid": {"type": "string"},
        }});
        let name = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
        assert!(rewrite(name, schema.as_object_mut().unwrap()));
        assert_eq!(schema["properties"], json!({"labels": {"type": "object"}}));
    }
}
