use std::collections::BTreeMap;

use kubewright_wire::route::percent_decode;
use serde_json::{Map, Value, json};

use super::{KUBERNETES, TYPE_NAME};

/// Puts every definition in the place of the references to it, as a CustomResourceDefinition needs
/// it, and leaves a note of which of them are types of Kubernetes.
///
/// It expects what schemars writes for OpenAPI: definitions below `components/schemas`. A
/// reference that may also be null becomes the definition itself, for optional means absent. A
/// type that contains itself keeps its unknown fields from the second time on.
pub fn inline_references(root: &mut Map<String, Value>) {
    let components = root.remove("components");
    let definitions = components
        .as_ref()
        .and_then(|components| components.get("schemas"))
        .and_then(Value::as_object);
    let definitions = definitions.into_iter().flatten();
    let inliner = Inliner {
        definitions: definitions
            .map(|(name, schema)| (name.as_str(), schema))
            .collect(),
    };
    inliner.inline(root, &mut Vec::new());
}

struct Inliner<'a> {
    definitions: BTreeMap<&'a str, &'a Value>,
}

impl Inliner<'_> {
    /// `above` names the definitions that the schema stands in.
    fn inline(&self, schema: &mut Map<String, Value>, above: &mut Vec<String>) {
        let Some(name) = take_reference(schema) else {
            self.inline_below(schema, above);
            return;
        };
        let mut definition = match self.definitions.get(name.as_str()) {
            Some(Value::Object(definition)) if !above.contains(&name) => definition.clone(),
            _ => endless(),
        };
        above.push(name.clone());
        self.inline(&mut definition, above);
        above.pop();
        // What the place says of the type wins over what the type says of itself.
        definition.append(schema);
        if name.starts_with(KUBERNETES) {
            definition.insert(TYPE_NAME.to_owned(), name.into());
        }
        *schema = definition;
    }

    fn inline_below(&self, schema: &mut Map<String, Value>, above: &mut Vec<String>) {
        for (keyword, value) in schema.iter_mut() {
            match (keyword.as_str(), value) {
                ("properties" | "patternProperties", Value::Object(named)) => {
                    self.inline_all(named.values_mut(), above);
                }
                ("allOf" | "anyOf" | "oneOf", Value::Array(several)) => {
                    self.inline_all(several.iter_mut(), above);
                }
                ("items" | "additionalProperties" | "not", Value::Object(one)) => {
                    self.inline(one, above);
                }
                _ => {}
            }
        }
    }

    fn inline_all<'v>(
        &self,
        schemas: impl Iterator<Item = &'v mut Value>,
        above: &mut Vec<String>,
    ) {
        for schema in schemas.filter_map(Value::as_object_mut) {
            self.inline(schema, above);
        }
    }
}

/// What a type is from the second time on that it stands in itself.
fn endless() -> Map<String, Value> {
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert(
        "x-kubernetes-preserve-unknown-fields".to_owned(),
        json!(true),
    );
    schema
}

/// Takes the reference out of a schema that is nothing else, or that or null.
fn take_reference(schema: &mut Map<String, Value>) -> Option<String> {
    if let Some(target) = schema.remove("$ref") {
        return target.as_str().map(name_of);
    }
    for keyword in ["allOf", "anyOf", "oneOf"] {
        let Some(branches) = schema.get(keyword).and_then(Value::as_array) else {
            continue;
        };
        let mut others = branches.iter().filter(|branch| !is_null(branch));
        let (Some(only), None) = (others.next(), others.next()) else {
            continue;
        };
        let target = only.as_object().filter(|only| only.len() == 1);
        let target = target.and_then(|only| only.get("$ref")?.as_str());
        if let Some(name) = target.map(name_of) {
            schema.remove(keyword);
            return Some(name);
        }
    }
    None
}

fn is_null(schema: &Value) -> bool {
    schema.get("type").is_some_and(|of| of == "null")
}

/// The last segment of a reference, which is a JSON pointer in a URI.
fn name_of(target: &str) -> String {
    let last = target.rsplit('/').next().unwrap_or_default();
    percent_decode(last).replace("~1", "/").replace("~0", "~")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::inline_references;

    fn inlined(mut root: Value) -> Value {
        inline_references(root.as_object_mut().unwrap());
        root
    }

    #[test]
    fn a_reference_becomes_what_it_refers_to_and_the_place_may_say_more() {
        let root = inlined(json!({
            "type": "object",
            "properties": {
                "size": {"$ref": "#/components/schemas/Size", "description": "Of the shoe."},
                "sizes": {"type": "array", "items": {"$ref": "#/components/schemas/Size"}},
            },
            "components": {"schemas": {"Size": {"type": "integer", "description": "A size."}}},
        }));
        assert_eq!(
            root,
            json!({
                "type": "object",
                "properties": {
                    "size": {"type": "integer", "description": "Of the shoe."},
                    "sizes": {"type": "array", "items": {"type": "integer", "description": "A size."}},
                },
            })
        );
    }

    #[test]
    fn an_optional_reference_is_the_type_itself_and_kubernetes_types_are_noted() {
        let target = "#/components/schemas/io.k8s.api.core.v1.Container";
        let root = inlined(json!({
            "properties": {"app": {"anyOf": [{"$ref": target}, {"type": "null"}]}},
            "components": {"schemas": {"io.k8s.api.core.v1.Container": {"type": "object"}}},
        }));
        assert_eq!(
            root["properties"]["app"],
            json!({"type": "object", "id": "io.k8s.api.core.v1.Container"})
        );
    }

    #[test]
    fn a_type_that_contains_itself_ends_at_the_second_time() {
        let tree = json!({"type": "object", "properties": {
            "left": {"$ref": "#/components/schemas/Tree"},
        }});
        let root = inlined(json!({
            "$ref": "#/components/schemas/Tree",
            "components": {"schemas": {"Tree": tree}},
        }));
        assert_eq!(
            root["properties"]["left"],
            json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true})
        );
    }
}
