use serde_json::{Map, Value, json};

/// The definition as a person would have written it.
///
/// kube's derive marks every `Option` as nullable, names Rust's integer widths as formats, keeps
/// whole doc comments and titles, and leaves the schema of free-form values empty, which the API
/// server refuses. Here optional means absent, formats are those that Kubernetes knows,
/// descriptions are one sentence, and free-form values keep their unknown fields.
pub fn tidy_crd(crd: &Value) -> Value {
    let mut crd = crd.clone();
    let versions = crd
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
    crd
}

/// The root's own sentence is the derive's, not the user's: the one of `spec` says more.
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
    tidy(root);
}

fn tidy(schema: &mut Map<String, Value>) {
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
    keep_free_form(schema);
    for keyword in ["properties", "patternProperties"] {
        let children = schema.get_mut(keyword).and_then(Value::as_object_mut);
        for child in children.into_iter().flat_map(|map| map.values_mut()) {
            tidy_value(child);
        }
    }
    for keyword in ["items", "additionalProperties", "not"] {
        if let Some(child) = schema.get_mut(keyword) {
            tidy_value(child);
        }
    }
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

fn tidy_value(schema: &mut Value) {
    if let Some(schema) = schema.as_object_mut() {
        tidy(schema);
    }
}

/// Kubernetes knows `int32`, `int64`, `float` and `double`; bounds stay as schemars wrote them.
fn tidy_format(schema: &mut Map<String, Value>) {
    let known = match schema.get("format").and_then(Value::as_str) {
        Some("int8" | "int16" | "uint8" | "uint16") => "int32",
        Some("uint32" | "uint64" | "int" | "uint") => "int64",
        _ => return,
    };
    schema.insert("format".to_owned(), json!(known));
}

/// A schema without a type says nothing about the value; a structural one must say that.
fn keep_free_form(schema: &mut Map<String, Value>) {
    const SAYS_SOMETHING: [&str; 9] = [
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
    if !SAYS_SOMETHING
        .iter()
        .any(|keyword| schema.contains_key(*keyword))
    {
        schema.insert(
            "x-kubernetes-preserve-unknown-fields".to_owned(),
            json!(true),
        );
    }
}

/// The first paragraph up to a full stop that a new sentence follows.
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
    fn a_property_may_be_called_title_or_nullable() {
        let named = json!({"type": "object", "properties": {
            "title": {"type": "string"}, "nullable": {"type": "boolean"},
        }});
        assert_eq!(tidied(named.clone()), named);
    }

    #[test]
    fn integer_widths_of_rust_become_those_of_kubernetes() {
        let schema = tidied(json!({"type": "array", "items": {
            "type": "integer", "format": "uint32", "minimum": 0.0,
        }}));
        assert_eq!(
            schema["items"],
            json!({"type": "integer", "format": "int64", "minimum": 0.0})
        );
    }

    #[test]
    fn a_value_of_any_form_keeps_its_fields() {
        let schema = tidied(json!({"type": "object", "additionalProperties": {
            "description": "Anything.",
        }}));
        assert_eq!(
            schema["additionalProperties"],
            json!({"description": "Anything.", "x-kubernetes-preserve-unknown-fields": true})
        );
    }

    #[test]
    fn the_root_takes_the_sentence_of_its_spec() {
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
                "properties": {"spec": {"type": "object", "description": "Many."}},
            })
        );
    }

    #[test]
    fn a_sentence_ends_where_another_begins() {
        assert_eq!(
            first_sentence("How many,\ne.g. three. More."),
            "How many, e.g. three."
        );
        assert_eq!(first_sentence("One\n\nTwo."), "One");
        assert_eq!(first_sentence("Version 1.2 of it"), "Version 1.2 of it");
    }
}
