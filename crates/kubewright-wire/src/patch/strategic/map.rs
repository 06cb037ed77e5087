//! Objects in a strategic merge patch.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::list::{ListMeta, check_items, delete_from, merge_list};
use super::order::{Identity, arrange, check_order};
use super::{DELETE_FROM, DIRECTIVE, ELEMENT_ORDER, RETAIN_KEYS, StrategicPatchError};
use crate::schema::{PatchStrategy, SchemaType};

/// Applies a strategic merge patch to an object of a built-in kind: structs and maps are merged,
/// `null` removes, lists are merged by the key that their field declares and replaced where it
/// declares none; `$patch`, `$retainKeys`, `$setElementOrder/LIST` and
/// `$deleteFromPrimitiveList/LIST` say more.
///
/// After an error the target is half patched and of no use.
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

pub(super) fn merge_map(
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
            let strategy = strategy(schema, &name);
            let below = schema.and_then(|schema| schema.field(&name));
            match strategy.is_some_and(|one| !one.merge && !one.retain_keys) {
                true => *stored = members,
                false => merge_map(stored, members, below)?,
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
        merges: strategy.is_some_and(|one| one.merge),
        merge_key: strategy.and_then(|one| one.merge_key.as_deref()),
    }
}

/// The name behind a directive such as `$setElementOrder/containers`; none where the directive is
/// another.
fn name_after<'n>(
    name: &'n str,
    directive: &str,
    malformed: StrategicPatchError,
) -> Result<Option<&'n str>, StrategicPatchError> {
    match name.strip_prefix(directive) {
        None => Ok(None),
        Some(rest) => rest.strip_prefix('/').map(Some).ok_or(malformed),
    }
}

/// Takes away the fields that `$retainKeys` does not name; the patch may set no others.
fn retain_keys(
    original: &mut Map<String, Value>,
    patch: &mut Map<String, Value>,
) -> Result<(), StrategicPatchError> {
    let Some(kept) = patch.remove(RETAIN_KEYS) else {
        return Ok(());
    };
    let kept = kept.as_array().ok_or(StrategicPatchError::RetainKeys)?;
    let kept: HashSet<&str> = kept.iter().filter_map(Value::as_str).collect();
    let is_kept = |name: &String| kept.contains(name.as_str());
    let is_directive =
        |name: &str| name.starts_with(DELETE_FROM) || name.starts_with(ELEMENT_ORDER);
    let mut set = patch.iter();
    if set.any(|(name, value)| !value.is_null() && !is_directive(name) && !is_kept(name)) {
        return Err(StrategicPatchError::RetainKeys);
    }
    original.retain(|name, _| is_kept(name));
    Ok(())
}

/// Merges each list that has an order of its own, and takes it out of the patch.
fn order_elements(
    original: &mut Map<String, Value>,
    patch: &mut Map<String, Value>,
    schema: Option<SchemaType<'_>>,
) -> Result<(), StrategicPatchError> {
    let orders = patch.keys().filter(|name| name.starts_with(ELEMENT_ORDER));
    let orders: Vec<String> = orders.cloned().collect();
    for directive in orders {
        let order = patch.remove(&directive).unwrap_or_default();
        let order = array(order)?;
        let list = name_after(&directive, ELEMENT_ORDER, StrategicPatchError::ElementOrder)?;
        let list = list.ok_or(StrategicPatchError::ElementOrder)?;
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

/// A null in what is new to the object means nothing.
fn discard_nulls(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|_, member| !member.is_null());
            members.values_mut().for_each(discard_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(discard_nulls),
        _ => {}
    }
}

/// What is new to the object, without what was only said about merging; none where nothing is
/// left.
fn without_directives(value: Value) -> Option<Value> {
    match value {
        Value::Object(members) if members.contains_key(DIRECTIVE) => None,
        Value::Object(members) => {
            let kept = members
                .into_iter()
                .filter_map(|(name, member)| Some((name, without_directives(member)?)));
            Some(Value::Object(kept.collect()))
        }
        Value::Array(items) => {
            let kept = items.into_iter().filter_map(without_directives);
            Some(Value::Array(kept.collect()))
        }
        scalar => Some(scalar),
    }
}

#[cfg(feature = "tables")]
#[cfg(test)]
mod tests {
    use kubewright_core::Kind;
    use serde_json::{Value, json};

    use super::strategic_merge;
    use crate::schema::Schema;

    /// The specification of a Pod after a patch of it, or the message of its refusal.
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
        let wanted = json!({"containers": [
            {"name": "a", "image": "1", "args": ["z"]}, {"name": "b"},
        ]});
        assert_eq!(patched(spec, patch), Ok(wanted));
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
    fn an_order_places_what_it_names_and_leaves_the_rest_where_it_was() {
        let spec = containers(&["a", "b", "c", "d"]);
        let order = |names: &[&str]| containers(names)["containers"].take();
        let patch = json!({"$setElementOrder/containers": order(&["d", "a"])});
        let arranged = patched(spec.clone(), patch).unwrap();
        assert_eq!(names(&arranged), ["b", "c", "d", "a"]);
        let patch = json!({
            "$setElementOrder/containers": order(&["e", "a"]), "containers": order(&["a", "e"]),
        });
        let message = patched(spec, patch).unwrap_err();
        assert!(message.starts_with("The order in patch list:\n[map[name:a] map[name:e]]\n"));
    }

    #[test]
    fn scalars_are_added_once_and_deleted_by_a_parallel_list() {
        let schema = Schema::builtin().kind(&Kind::new("", "v1", "ConfigMap"));
        let mut object = json!({"metadata": {"finalizers": ["x/a", "x/b"]}});
        for (patch, wanted) in [
            (
                json!({"metadata": {"finalizers": ["x/b", "x/c"]}}),
                json!(["x/a", "x/b", "x/c"]),
            ),
            (
                json!({"metadata": {"$deleteFromPrimitiveList/finalizers": ["x/b", "x/z"]}}),
                json!(["x/a", "x/c"]),
            ),
        ] {
            let patch = patch.as_object().cloned().unwrap();
            strategic_merge(&mut object, patch, schema.unwrap()).unwrap();
            assert_eq!(object["metadata"]["finalizers"], wanted);
        }
    }

    #[test]
    fn only_retained_keys_stay() {
        let volume = json!([{"name": "v", "emptyDir": {}}]);
        let patch = json!({"volumes": [
            {"name": "v", "$retainKeys": ["name", "hostPath"], "hostPath": {"path": "/"}},
        ]});
        let wanted = json!({"volumes": [{"name": "v", "hostPath": {"path": "/"}}]});
        assert_eq!(patched(json!({"volumes": volume}), patch), Ok(wanted));
        let patch = json!({"volumes": [
            {"name": "v", "$retainKeys": ["name"], "hostPath": {"path": "/"}},
        ]});
        assert_eq!(
            patched(json!({"volumes": volume}), patch),
            Err("invalid patch format of retainKeys".to_owned())
        );
    }

    #[test]
    fn nulls_remove_and_mean_nothing_where_all_is_new() {
        let spec = json!({"nodeName": "n", "containers": []});
        let patch =
            json!({"nodeName": null, "securityContext": {"runAsUser": null, "runAsGroup": 1}});
        let wanted = json!({"containers": [], "securityContext": {"runAsGroup": 1}});
        assert_eq!(patched(spec, patch), Ok(wanted));
    }

    #[test]
    fn what_does_not_fit_is_refused_in_the_servers_words() {
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
