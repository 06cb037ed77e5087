//! Cleanup of generated CustomResourceDefinitions.

use serde_json::{Map, Value, json};

use crate::schema::complete;

/// Cleans up a definition that kube's derive generated, so that it reads like a handwritten one.
///
/// kube's derive marks every `Option` as nullable, writes Rust's integer widths as formats, copies
/// whole doc comments and titles, and leaves the schema of free-form values empty, which the API
/// server rejects. Here optional means absent, formats are those of Kubernetes, descriptions are
/// one sentence, and free-form values preserve unknown fields. Defaults below `status` are removed:
/// they are for deserializing it in Rust, and are not to be stored. List types, map keys and
/// defaults of Kubernetes' own types are added from its OpenAPI schema.
pub fn tidy_crd(crd: &Value) -> Value {
    let mut tidied = crd.clone();
    set_list_kind(&mut tidied);
    let versions = tidied
        .pointer_mut("/spec/versions")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten();
    for version in versions {
        if let Some(schema) = version
            .pointer_mut("/schema/openAPIV3Schema")
            .and_then(Value::as_object_mut)
        {
            tidy_root(schema);
        }
    }
    tidied
}

/// The API server sets it by default; with it, a diff against the stored definition is empty.
fn set_list_kind(crd: &mut Value) {
    let Some(names) = crd
        .pointer_mut("/spec/names")
        .and_then(Value::as_object_mut)
    else {
        return;
    };
    if let Some(kind) = names.get("kind").and_then(Value::as_str) {
        let list = format!("{kind}List");
        names.entry("listKind").or_insert(list.into());
    }
}

/// Adds the fields that every object has, for `kubectl explain`.
fn add_common_fields(root: &mut Map<String, Value>) {
    let common = [
        (
            "apiVersion",
            "string",
            "The version of the schema that the object is written in.",
        ),
        ("kind", "string", "The kind of the object."),
        ("metadata", "object", ""),
    ];
    let Some(properties) = root
        .get_mut("properties")
        .and_then(Value::as_object_mut)
        .filter(|all| all.contains_key("spec"))
    else {
        return;
    };
    for (name, type_name, text) in common {
        let mut schema = json!({"type": type_name});
        if !text.is_empty() {
            schema["description"] = text.into();
        }
        properties.entry(name).or_insert(schema);
    }
}

/// Cleans up the schema of an object. kube's derive generates a description of the root; that of
/// `spec`, which the user wrote, replaces it.
fn tidy_root(root: &mut Map<String, Value>) {
    let generated = root
        .get("description")
        .and_then(Value::as_str)
        .is_some_and(|text| text.starts_with("Auto-generated derived type for "));
    if generated {
        root.remove("description");
        let spec = root.get("properties").and_then(|all| all.get("spec"));
        if let Some(text) = spec.and_then(|spec| spec.get("description")).cloned() {
            root.insert("description".to_owned(), text);
        }
    }
    add_common_fields(root);
    complete(root);
    tidy(root);
    let status = root
        .get_mut("properties")
        .and_then(|all| all.get_mut("status"));
    if let Some(status) = status.and_then(Value::as_object_mut) {
        walk(status, &mut |schema| {
            schema.remove("default");
        });
    }
}

fn tidy(schema: &mut Map<String, Value>) {
    walk(schema, &mut tidy_one);
}

/// Calls `change` for the schema and for each below it that describes a value of its own.
fn walk(schema: &mut Map<String, Value>, change: &mut dyn FnMut(&mut Map<String, Value>)) {
    change(schema);
    let mut below = Vec::new();
    for (keyword, value) in schema.iter_mut() {
        match keyword.as_str() {
            "properties" | "patternProperties" => {
                let children = value.as_object_mut();
                below.extend(children.into_iter().flat_map(|map| map.values_mut()));
            }
            "items" | "additionalProperties" => below.push(value),
            _ => {}
        }
    }
    for child in below.into_iter().filter_map(Value::as_object_mut) {
        walk(child, change);
    }
}

fn tidy_one(schema: &mut Map<String, Value>) {
    schema.remove("title");
    schema.remove("nullable");
    if schema.get("default") == Some(&Value::Null) {
        schema.remove("default");
    }
    if let Some(values) = schema.get_mut("enum").and_then(Value::as_array_mut) {
        values.retain(|value| !value.is_null());
    }
    if let Some(Value::String(text)) = schema.get_mut("description") {
        *text = first_sentence(text);
    }
    tidy_format(schema);
    tidy_bounds(schema);
    preserve_free_form(schema);
    for keyword in ["allOf", "anyOf", "oneOf"] {
        let branches = schema.get_mut(keyword).and_then(Value::as_array_mut);
        for branch in branches
            .into_iter()
            .flatten()
            .filter_map(Value::as_object_mut)
        {
            branch.remove("title");
            branch.remove("nullable");
        }
    }
}

/// Kubernetes has only the formats `int32`, `int64`, `float` and `double`. The bounds that schemars
/// wrote stay.
fn tidy_format(schema: &mut Map<String, Value>) {
    let known = match schema.get("format").and_then(Value::as_str) {
        Some("int8" | "int16" | "uint8" | "uint16") => "int32",
        Some("uint32" | "uint64" | "int" | "uint") => "int64",
        _ => return,
    };
    schema.insert("format".to_owned(), json!(known));
}

/// Writes integral bounds as integers: `minimum: 0`, not `0.0`.
fn tidy_bounds(schema: &mut Map<String, Value>) {
    for keyword in ["minimum", "maximum", "multipleOf"] {
        let Some(bound) = schema.get_mut(keyword) else {
            continue;
        };
        // From 2^53 on a float does not represent every integer.
        let integer = bound
            .as_f64()
            .filter(|bound| bound.fract() == 0.0 && bound.abs() < 9e15)
            .and_then(|bound| format!("{bound:.0}").parse::<i64>().ok());
        if let Some(integer) = integer {
            *bound = json!(integer);
        }
    }
}

/// A structural schema without a type must preserve unknown fields.
fn preserve_free_form(schema: &mut Map<String, Value>) {
    const CONSTRAINTS: [&str; 9] = [
        "$ref",
        "allOf",
        "anyOf",
        "not",
        "oneOf",
        "properties",
        "type",
        "x-kubernetes-int-or-string",
        "x-kubernetes-preserve-unknown-fields",
    ];
    if !CONSTRAINTS
        .iter()
        .any(|keyword| schema.contains_key(*keyword))
    {
        schema.insert(
            "x-kubernetes-preserve-unknown-fields".to_owned(),
            json!(true),
        );
    }
}

/// The first paragraph, up to a full stop before the next sentence.
fn first_sentence(text: &str) -> String {
    let paragraph = text.split("\n\n").next().unwrap_or_default();
    let words: Vec<&str> = paragraph.split_whitespace().collect();
    let end = words.windows(2).position(|pair| {
        pair[0].ends_with('.') && pair[1].starts_with(|c: char| c.is_uppercase() || c == '`')
    });
    let kept = end.map_or(words.len(), |last| last + 1);
    words.get(..kept).unwrap_or_default().join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{first_sentence, tidy_crd};

    fn tidied(schema: Value) -> Value {
        let crd = json!({"spec": {"versions": [{"schema": {"openAPIV3Schema": schema}}]}});
        tidy_crd(&crd)["spec"]["versions"][0]["schema"]["openAPIV3Schema"].clone()
    }

    #[test]
    fn optional_means_absent_and_not_null() {
        let schema = tidied(json!({"type": "object", "properties": {"mode": {
            "type": "string", "nullable": true, "default": null, "enum": ["A", "B", null],
        }}}));
        assert_eq!(
            schema["properties"]["mode"],
            json!({"type": "string", "enum": ["A", "B"]})
        );
    }

    #[test]
    fn properties_named_title_and_nullable_stay() {
        let named = json!({"type": "object", "properties": {
            "title": {"type": "string"}, "nullable": {"type": "boolean"},
        }});
        assert_eq!(tidied(named.clone()), named);
    }

    #[test]
    fn integer_formats_of_rust_become_those_of_kubernetes() {
        let schema = tidied(json!({"type": "array", "items": {
            "type": "integer", "format": "uint32", "minimum": 0.0,
        }}));
        assert_eq!(
            schema["items"],
            json!({"type": "integer", "format": "int64", "minimum": 0})
        );
    }

    #[test]
    fn defaults_of_the_status_are_removed() {
        let with_default = json!({"type": "object", "properties": {
            "size": {"type": "integer", "default": 3},
        }});
        let schema = tidied(json!({"type": "object", "properties": {
            "spec": with_default, "status": with_default,
        }}));
        assert_eq!(schema["properties"]["spec"], with_default);
        assert_eq!(
            schema["properties"]["status"],
            json!({"type": "object", "properties": {"size": {"type": "integer"}}})
        );
    }

    #[test]
    fn free_form_value_preserves_unknown_fields() {
        let schema = tidied(json!({"type": "object", "additionalProperties": {
            "description": "Anything.",
        }}));
        assert_eq!(
            schema["additionalProperties"],
            json!({"description": "Anything.", "x-kubernetes-preserve-unknown-fields": true})
        );
    }

    #[test]
    fn root_gets_the_description_of_its_spec() {
        let schema = tidied(json!({
            "type": "object",
            "title": "Set",
            "description": "Auto-generated derived type for SetSpec via `CustomResource`",
            "properties": {"spec": {"type": "object", "description": "Many. More of it."}},
        }));
        assert_eq!(
            schema,
            json!({
                "type": "object",
                "description": "Many.",
                "properties": {
                    "apiVersion": {
                        "type": "string",
                        "description": "The version of the schema that the object is written in.",
                    },
                    "kind": {"type": "string", "description": "The kind of the object."},
                    "metadata": {"type": "object"},
                    "spec": {"type": "object", "description": "Many."},
                },
            })
        );
    }

    #[test]
    fn first_sentence_ends_before_the_next() {
        assert_eq!(
            first_sentence("How many,\ne.g. three. More."),
            "How many, e.g. three."
        );
        assert_eq!(first_sentence("One\n\nTwo."), "One");
        assert_eq!(first_sentence("Version 1.2 of it"), "Version 1.2 of it");
    }
}
