//! Inlining of references, because CustomResourceDefinitions have none.

use std::collections::BTreeMap;

use kubewright_wire::route::percent_decode;
use serde_json::{Map, Value, json};

use super::type_name::{KUBERNETES, TYPE_NAME};

/// Replaces every reference with its definition, as a CustomResourceDefinition requires, and marks
/// the types of Kubernetes among them.
///
/// It expects the OpenAPI output of schemars, with definitions below `components/schemas`. A
/// reference that may also be null becomes the definition, because optional means absent. Within
/// itself, a recursive type is a free-form object.
pub fn inline_references(root: &mut Map<String, Value>) {
    let components = root.remove("components");
    let definitions = components
        .as_ref()
        .and_then(|components| components.get("schemas"))
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .map(|(name, schema)| (name.as_str(), schema))
        .collect();
    let inliner = Inliner { definitions };
    inliner.inline(root, &mut Vec::new());
}

struct Inliner<'a> {
    definitions: BTreeMap<&'a str, &'a Value>,
}

impl Inliner<'_> {
    /// `parents` are the names of the definitions that contain the schema.
    fn inline(&self, schema: &mut Map<String, Value>, parents: &mut Vec<String>) {
        let Some(name) = take_reference(schema) else {
            self.inline_below(schema, parents);
            return;
        };
        let mut definition = match self.definitions.get(name.as_str()) {
            Some(Value::Object(definition)) if !parents.contains(&name) => definition.clone(),
            _ => free_form(),
        };
        parents.push(name.clone());
        self.inline(&mut definition, parents);
        parents.pop();
        // Keywords beside the reference override those of the definition.
        definition.append(schema);
        if name.starts_with(KUBERNETES) {
            definition.insert(TYPE_NAME.to_owned(), name.into());
        }
        *schema = definition;
    }

    fn inline_below(&self, schema: &mut Map<String, Value>, parents: &mut Vec<String>) {
        for (keyword, value) in schema.iter_mut() {
            match (keyword.as_str(), value) {
                ("properties" | "patternProperties", Value::Object(named)) => {
                    self.inline_all(named.values_mut(), parents);
                }
                ("allOf" | "anyOf" | "oneOf", Value::Array(several)) => {
                    self.inline_all(several.iter_mut(), parents);
                }
                ("items" | "additionalProperties" | "not", Value::Object(inner)) => {
                    self.inline(inner, parents);
                }
                _ => {}
            }
        }
    }

    fn inline_all<'v>(
        &self,
        schemas: impl Iterator<Item = &'v mut Value>,
        parents: &mut Vec<String>,
    ) {
        for schema in schemas.filter_map(Value::as_object_mut) {
            self.inline(schema, parents);
        }
    }
}

/// The schema of a recursive type within itself.
fn free_form() -> Map<String, Value> {
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert(
        "x-kubernetes-preserve-unknown-fields".to_owned(),
        json!(true),
    );
    schema
}

/// Removes the reference from a schema that is only a reference, or a reference or null.
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
        let target = only
            .as_object()
            .filter(|only| only.len() == 1)
            .and_then(|only| only.get("$ref")?.as_str());
        if let Some(name) = target.map(name_of) {
            schema.remove(keyword);
            return Some(name);
        }
    }
    None
}

fn is_null(schema: &Value) -> bool {
    schema
        .get("type")
        .is_some_and(|type_name| type_name == "null")
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
    fn reference_becomes_its_definition_with_the_keywords_beside_it() {
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
    fn optional_reference_becomes_its_definition_and_types_of_kubernetes_are_marked() {
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
    fn recursive_type_is_free_form_within_itself() {
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
