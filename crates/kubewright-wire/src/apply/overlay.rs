//! The merge of an apply configuration without field owners.

use serde_json::Value;

use super::merge::merge;
use super::validate::{Duplicates, validate};
use crate::schema::{Atom, ListType, SchemaType};

/// Merges an intent into an object without field owners, as mutating admission policies do
/// (`ApplyStructuredMergeDiff` of k8s.io/apiserver/pkg/admission/plugin/policy/mutating/patch).
///
/// The intent may not contain atomic lists, maps or structs. Objects of Kubernetes' own kinds need
/// [`conform`](crate::schema::conform) afterwards.
pub fn overlay(live: &Value, intent: &Value, schema: SchemaType<'_>) -> Result<Value, String> {
    validate(intent, schema, Duplicates::Rejected)
        .map_err(|what| format!("failed to convert patch object to typed object: {what}"))?;
    let mut atomics = Vec::new();
    find_atomics(intent, schema, "", &mut atomics);
    if !atomics.is_empty() {
        return Err(format!(
            "invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: {}",
            atomics.join(", ")
        ));
    }
    validate(live, schema, Duplicates::Allowed)
        .map_err(|what| format!("failed to convert original object to typed object: {what}"))?;
    merge(live, intent, schema).map_err(|what| format!("failed to merge patch: {what}"))
}

/// Collects the paths of atomic values.
fn find_atomics(value: &Value, schema: SchemaType<'_>, path: &str, found: &mut Vec<String>) {
    match (schema.atom(Some(value)), value) {
        (Atom::Map(map), Value::Object(members)) => {
            if map.atomic {
                found.push(path.to_owned());
            }
            for (name, member) in members {
                if let Some(field) = map.fields.get(name) {
                    let member_path = format!("{path}.{name}");
                    find_atomics(member, schema.at(field.type_id), &member_path, found);
                }
            }
        }
        (Atom::List(list), Value::Array(items)) => {
            if list.list_type == ListType::Atomic {
                found.push(path.to_owned());
            }
            for (index, item) in items.iter().enumerate() {
                let item_path = format!("{path}[{index}]");
                find_atomics(item, schema.at(list.item), &item_path, found);
            }
        }
        _ => {}
    }
}

#[cfg(all(test, feature = "tables"))]
mod tests {
    use kubewright_core::Kind;
    use serde_json::{Value, json};

    use super::overlay;
    use crate::schema::Schema;

    fn merged_with(live: &Value, mut intent: Value) -> Result<Value, String> {
        let schema = Schema::builtin()
            .kind(&Kind::new("", "v1", "Pod"))
            .expect("Pods are known");
        intent["apiVersion"] = json!("v1");
        intent["kind"] = json!("Pod");
        overlay(live, &intent, schema)
    }

    fn pod() -> Value {
        json!({
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "labels": {"x": "1"}},
            "spec": {"containers": [{"name": "main", "image": "one"}]},
        })
    }

    #[test]
    fn keyed_lists_and_maps_are_merged() {
        let intent = json!({
            "metadata": {"labels": {"y": "2"}},
            "spec": {"containers": [
                {"name": "side", "image": "two"}, {"name": "main", "image": "three"},
            ]},
        });
        let merged = merged_with(&pod(), intent).unwrap();
        assert_eq!(merged["metadata"]["labels"], json!({"x": "1", "y": "2"}));
        let containers = merged["spec"]["containers"].as_array().unwrap();
        let names: Vec<&Value> = containers
            .iter()
            .map(|container| &container["name"])
            .collect();
        assert_eq!(names, ["side", "main"]);
        assert_eq!(containers[1]["image"], "three");
    }

    #[test]
    fn atomic_list_in_the_intent_is_an_error_with_its_path() {
        let args = json!({"spec": {"containers": [{"name": "main", "args": ["-v"]}]}});
        assert_eq!(
            merged_with(&pod(), args),
            Err(
                "invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: \
                 .spec.containers[0].args"
                    .to_owned()
            )
        );
    }

    #[test]
    fn unknown_field_is_an_error() {
        let error = merged_with(&pod(), json!({"spec": {"nope": 1}})).unwrap_err();
        assert_eq!(
            error,
            "failed to convert patch object to typed object: .spec.nope: field not declared in \
             schema"
        );
    }
}
