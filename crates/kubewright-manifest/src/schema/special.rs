use serde_json::{Map, Value, json};

/// What an amount looks like, as controller-gen writes it (pkg/crd/known_types.go of
/// sigs.k8s.io/controller-tools).
const AMOUNT: &str = r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$";

/// The part of an embedded object's metadata that means something before the object exists.
const TEMPLATE_METADATA: [&str; 5] = ["annotations", "finalizers", "labels", "name", "namespace"];

/// Rewrites the schema of a type whose JSON form its Rust form does not tell; says whether it was
/// one.
pub(super) fn rewrite(type_name: &str, schema: &mut Map<String, Value>) -> bool {
    let short = type_name.rsplit('.').next().unwrap_or_default();
    match short {
        "Quantity" => {
            int_or_string(schema);
            schema.insert("pattern".to_owned(), AMOUNT.into());
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

/// Names the two forms of a value that is a number or a text, as controller-gen does; kube's
/// derive takes them away.
pub(super) fn name_forms(schema: &mut Map<String, Value>) {
    let is_either = schema.get("x-kubernetes-int-or-string");
    if is_either.is_some_and(|is_either| *is_either == json!(true)) {
        int_or_string(schema);
    }
}

fn int_or_string(schema: &mut Map<String, Value>) {
    let forms = json!([{"type": "integer"}, {"type": "string"}]);
    schema.remove("type");
    schema.insert("anyOf".to_owned(), forms);
    schema.insert("x-kubernetes-int-or-string".to_owned(), json!(true));
}

/// A template's metadata becomes that of other objects: what the API server sets has no place in
/// it.
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
    fn an_amount_is_a_number_or_text_of_a_certain_form() {
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
    fn a_template_has_the_metadata_that_a_user_may_set() {
        let mut schema = json!({"type": "object", "properties": {
            "labels": {"type": "object"}, "uid": {"type": "string"},
        }});
        let name = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
        assert!(rewrite(name, schema.as_object_mut().unwrap()));
        assert_eq!(schema["properties"], json!({"labels": {"type": "object"}}));
    }
}
