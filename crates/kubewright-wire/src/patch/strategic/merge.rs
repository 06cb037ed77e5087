//! The merge of objects and lists.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::directive::{
    DELETE_FROM, DIRECTIVE, ELEMENT_ORDER, discard_nulls, name_after, retain_keys,
    without_directives,
};
use super::error::StrategicPatchError;
use super::list::{Items, ListMeta, apply_item_directives, check_items, delete_from, items};
use super::order::{Identity, Places, arrange, check_order};
use crate::schema::{PatchStrategy, SchemaType};

/// Applies a strategic merge patch to an object of a built-in kind: structs and maps are merged,
/// `null` removes, lists are merged by the merge key of their field, or replaced without one. The
/// directives are `$patch`, `$retainKeys`, `$setElementOrder/LIST` and
/// `$deleteFromPrimitiveList/LIST`.
///
/// After an error the target is partly patched and must be discarded.
pub fn strategic_merge(
    target: &mut Value,
    patch: Map<String, Value>,
    schema: SchemaType<'_>,
) -> Result<(), StrategicPatchError> {
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    match target {
        Value::Object(members) => merge_map(members, patch, Some(schema)),
        _ => Ok(()),
    }
}

fn merge_map(
    original: &mut Map<String, Value>,
    mut patch: Map<String, Value>,
    schema: Option<SchemaType<'_>>,
) -> Result<(), StrategicPatchError> {
    if let Some(directive) = patch.get(DIRECTIVE) {
        match directive.as_str() {
            Some("replace") => {
                patch.remove(DIRECTIVE);
                *original = patch;
            }
            Some("delete") => original.clear(),
            _ => return Err(StrategicPatchError::unknown_directive(directive, &patch)),
        }
        return Ok(());
    }
    retain_keys(original, &mut patch)?;
    order_elements(original, &mut patch, schema)?;
    for (name, change) in patch {
        merge_member(original, name, change, schema)?;
    }
    Ok(())
}

fn merge_member(
    original: &mut Map<String, Value>,
    name: String,
    change: Value,
    schema: Option<SchemaType<'_>>,
) -> Result<(), StrategicPatchError> {
    let deleted_from = name_after(&name, DELETE_FROM, StrategicPatchError::PrimitiveList)?;
    if let Some(list) = deleted_from {
        if let (Some(Value::Array(items)), Value::Array(deleted)) =
            (original.get_mut(list), &change)
        {
            *items = delete_from(std::mem::take(items), deleted);
        }
        return Ok(());
    }
    match (original.get_mut(&name), change) {
        (_, Value::Null) => {
            original.remove(&name);
        }
        (Some(Value::Object(stored)), Value::Object(members)) => {
            let replaces = strategy(schema, &name)
                .is_some_and(|strategy| !strategy.merge && !strategy.retain_keys);
            if replaces {
                *stored = members;
            } else {
                let below = schema.and_then(|schema| schema.field(&name));
                merge_map(stored, members, below)?;
            }
        }
        (Some(Value::Array(stored)), Value::Array(items)) => {
            *stored = merge_list(std::mem::take(stored), items, list_meta(schema, &name))?;
        }
        (_, mut change) => {
            discard_nulls(&mut change);
            match without_directives(change) {
                Some(value) => original.insert(name, value),
                None => original.remove(&name),
            };
        }
    }
    Ok(())
}

fn strategy<'s>(schema: Option<SchemaType<'s>>, name: &str) -> Option<&'s PatchStrategy> {
    schema?.declared(name)?.patch.as_ref()
}

fn list_meta<'s>(schema: Option<SchemaType<'s>>, name: &str) -> ListMeta<'s> {
    let strategy = strategy(schema, name);
    let list = schema.and_then(|schema| schema.field(name));
    ListMeta {
        item: list.and_then(|list| list.item()),
        merges: strategy.is_some_and(|strategy| strategy.merge),
        merge_key: strategy.and_then(|strategy| strategy.merge_key.as_deref()),
    }
}

/// Merges a list of the patch into the stored one, or replaces it.
fn merge_list(
    original: Vec<Value>,
    patch: Vec<Value>,
    meta: ListMeta<'_>,
) -> Result<Vec<Value>, StrategicPatchError> {
    if !meta.merges {
        return Ok(patch);
    }
    if original.is_empty() && patch.is_empty() {
        return Ok(original);
    }
    if items(&original, &patch)? == Items::Scalars {
        let mut merged = original.clone();
        merged.extend(patch.iter().cloned());
        let mut seen = HashSet::new();
        merged.retain(|item| seen.insert(item.to_string()));
        return arrange(merged, &patch, &original, Identity::Whole);
    }
    let Some(key) = meta.merge_key else {
        let message = "cannot merge lists without merge key for struct".to_owned();
        return Err(StrategicPatchError::Mismatch(message));
    };
    let (live, changes) = apply_item_directives(original, patch, key)?;
    let merged = merge_items(live.clone(), &changes, key, meta.item)?;
    arrange(merged, &changes, &live, Identity::Field(key))
}

fn merge_items(
    mut original: Vec<Value>,
    patch: &[Value],
    key: &str,
    item: Option<SchemaType<'_>>,
) -> Result<Vec<Value>, StrategicPatchError> {
    let mut places = Places::of(&original, Identity::Field(key));
    for change in patch {
        let Some(members) = change.as_object() else {
            continue;
        };
        if !members.contains_key(key) {
            return Err(StrategicPatchError::no_merge_key(members, key));
        }
        let found = places.get(change).and_then(|place| original.get_mut(place));
        match found.and_then(Value::as_object_mut) {
            Some(stored) => merge_map(stored, members.clone(), item)?,
            None => {
                places.add(change, original.len());
                original.push(change.clone());
            }
        }
    }
    Ok(original)
}

/// Merges each list with a `$setElementOrder` directive, and removes it from the patch.
fn order_elements(
    original: &mut Map<String, Value>,
    patch: &mut Map<String, Value>,
    schema: Option<SchemaType<'_>>,
) -> Result<(), StrategicPatchError> {
    let directives: Vec<String> = patch
        .keys()
        .filter(|name| name.starts_with(ELEMENT_ORDER))
        .cloned()
        .collect();
    for directive in directives {
        let order = array(patch.remove(&directive).unwrap_or_default())?;
        let list = name_after(&directive, ELEMENT_ORDER, StrategicPatchError::ElementOrder)?
            .ok_or(StrategicPatchError::ElementOrder)?;
        let stored = original.get(list).cloned().map(array).transpose()?;
        let change = patch.get(list).cloned().map(array).transpose()?;
        let meta = list_meta(schema, list);
        let identity = Identity::new(meta.merge_key);
        check_order(change.as_deref().unwrap_or_default(), &order, identity)?;
        let live = stored.clone().unwrap_or_default();
        let sent = change.clone().unwrap_or_default();
        let merged = match (stored, change) {
            (None, None) => continue,
            (Some(stored), None) => stored,
            (None, Some(change)) => match without_directives(Value::Array(change)) {
                Some(Value::Array(items)) => items,
                _ => continue,
            },
            (Some(stored), Some(change)) => merge_list(stored, change, meta)?,
        };
        check_items(&live, &sent)?;
        let arranged = arrange(merged, &order, &live, identity)?;
        original.insert(list.to_owned(), Value::Array(arranged));
        patch.remove(list);
    }
    Ok(())
}

fn array(value: Value) -> Result<Vec<Value>, StrategicPatchError> {
    match value {
        Value::Array(items) => Ok(items),
        other => Err(StrategicPatchError::wrong_type("[]interface {}", &other)),
    }
}

#[cfg(feature = "tables")]
#[cfg(test)]
mod tests {
    use kubewright_core::Kind;
    use serde_json::{Value, json};

    use super::strategic_merge;
    use crate::schema::Schema;

    /// The spec of a Pod after a patch, or the error message.
    fn patched(spec: Value, patch: Value) -> Result<Value, String> {
        let schema = Schema::builtin().kind(&Kind::new("", "v1", "Pod"));
        let mut object = json!({"spec": spec});
        let patch = json!({"spec": patch}).as_object().cloned();
        strategic_merge(&mut object, patch.unwrap(), schema.unwrap())
            .map_err(|error| error.to_string())?;
        Ok(object["spec"].take())
    }

    fn names(spec: &Value) -> Vec<&str> {
        let items = spec["containers"].as_array().unwrap().iter();
        items.map(|item| item["name"].as_str().unwrap()).collect()
    }

    fn containers(names: &[&str]) -> Value {
        let items: Vec<Value> = names.iter().map(|name| json!({"name": name})).collect();
        json!({"containers": items})
    }

    #[test]
    fn lists_are_merged_by_the_key_of_their_field() {
        let spec = json!({"containers": [{"name": "a", "image": "1", "args": ["x", "y"]}]});
        let patch = json!({"containers": [{"name": "a", "args": ["z"]}, {"name": "b"}]});
        let expected = json!({"containers": [
            {"name": "a", "image": "1", "args": ["z"]}, {"name": "b"},
        ]});
        assert_eq!(patched(spec, patch), Ok(expected));
    }

    #[test]
    fn items_and_whole_lists_are_deleted_and_replaced_by_directive() {
        let spec = containers(&["a", "b", "c"]);
        let delete = json!({"containers": [{"name": "b", "$patch": "delete"}]});
        assert_eq!(names(&patched(spec.clone(), delete).unwrap()), ["a", "c"]);
        let replace = json!({"containers": [{"$patch": "replace"}, {"name": "d"}]});
        assert_eq!(names(&patched(spec.clone(), replace).unwrap()), ["d"]);
        let whole = json!({"$patch": "replace", "nodeName": "n"});
        assert_eq!(patched(spec.clone(), whole), Ok(json!({"nodeName": "n"})));
        let nothing = json!({"$patch": "delete"});
        assert_eq!(patched(spec, nothing), Ok(json!({})));
    }

    #[test]
    fn element_order_moves_its_items_and_leaves_the_others() {
        let spec = containers(&["a", "b", "c", "d"]);
        let order = |names: &[&str]| containers(names)["containers"].take();
        let valid = json!({"$setElementOrder/containers": order(&["d", "a"])});
        let arranged = patched(spec.clone(), valid).unwrap();
        assert_eq!(names(&arranged), ["b", "c", "d", "a"]);
        let mismatched = json!({
            "$setElementOrder/containers": order(&["e", "a"]), "containers": order(&["a", "e"]),
        });
        let message = patched(spec, mismatched).unwrap_err();
        assert!(message.starts_with("The order in patch list:\n[map[name:a] map[name:e]]\n"));
    }

    #[test]
    fn scalars_are_added_once_and_deleted_by_a_parallel_list() {
        let schema = Schema::builtin().kind(&Kind::new("", "v1", "ConfigMap"));
        let mut object = json!({"metadata": {"finalizers": ["x/a", "x/b"]}});
        for (patch, expected) in [
            (
                json!({"metadata": {"finalizers": ["x/b", "x/c"]}}),
                json!(["x/a", "x/b", "x/c"]),
            ),
            (
                json!({"metadata": {"$deleteFromPrimitiveList/finalizers": ["x/b", "x/z"]}}),
                json!(["x/a", "x/c"]),
            ),
        ] {
            let members = patch.as_object().cloned().unwrap();
            strategic_merge(&mut object, members, schema.unwrap()).unwrap();
            assert_eq!(object["metadata"]["finalizers"], expected);
        }
    }

    #[test]
    fn only_retained_keys_stay() {
        let volume = json!([{"name": "v", "emptyDir": {}}]);
        let valid = json!({"volumes": [
            {"name": "v", "$retainKeys": ["name", "hostPath"], "hostPath": {"path": "/"}},
        ]});
        let expected = json!({"volumes": [{"name": "v", "hostPath": {"path": "/"}}]});
        assert_eq!(patched(json!({"volumes": volume}), valid), Ok(expected));
        let sets_another = json!({"volumes": [
            {"name": "v", "$retainKeys": ["name"], "hostPath": {"path": "/"}},
        ]});
        assert_eq!(
            patched(json!({"volumes": volume}), sets_another),
            Err("invalid patch format of retainKeys".to_owned())
        );
    }

    #[test]
    fn null_removes_a_field_and_is_ignored_in_a_new_value() {
        let spec = json!({"nodeName": "n", "containers": []});
        let patch =
            json!({"nodeName": null, "securityContext": {"runAsUser": null, "runAsGroup": 1}});
        let expected = json!({"containers": [], "securityContext": {"runAsGroup": 1}});
        assert_eq!(patched(spec, patch), Ok(expected));
    }

    #[test]
    fn invalid_patch_fails_with_the_message_of_the_api_server() {
        let spec = containers(&["a"]);
        for (patch, message) in [
            (
                json!({"containers": [{"image": "x"}]}),
                "map: map[image:x] does not contain declared merge key: name",
            ),
            (
                json!({"$patch": "foo"}),
                "unknown patch type: foo in map: map[$patch:foo]",
            ),
            (
                json!({"containers": [{"name": "a", "$patch": "merge"}]}),
                "merging lists cannot yet be specified in the patch",
            ),
            (
                json!({"$setElementOrder": []}),
                "invalid patch format of setElementOrder list",
            ),
            (
                json!({"$deleteFromPrimitiveList": []}),
                "invalid patch format of primitive list",
            ),
            (
                json!({"containers": ["a"]}),
                "list element types are not identical: [[map[name:a]] [a]]",
            ),
        ] {
            assert_eq!(patched(spec.clone(), patch), Err(message.to_owned()));
        }
    }
}
