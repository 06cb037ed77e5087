//! Comparison of two definitions of a kind.

use serde_json::Value;

use super::schema::SchemaComparison;
use super::unsafe_change::{UnsafeChange, text};

/// The changes between two definitions that may break stored objects. Empty when every stored object
/// stays valid and complete.
///
/// It checks what the Operator Lifecycle Manager checks and more: scope, kind, stored versions, and
/// in the schema of each version removed fields, changed types, values that are no longer allowed,
/// new rules, list types and defaults.
pub fn unsafe_changes(old: &Value, new: &Value) -> Vec<UnsafeChange> {
    let mut changes = Vec::new();
    let (before, after) = (&old["spec"], &new["spec"]);
    let immutable = [
        ("scope", &before["scope"], &after["scope"]),
        ("kind", &before["names"]["kind"], &after["names"]["kind"]),
    ];
    for (name, former, current) in immutable {
        if former != current {
            changes.push(UnsafeChange::rejected(format!(
                "the {name} changes from {} to {}: uninstall the definition, install the new one \
                 and create every object again, or give the kind another name",
                text(former),
                text(current)
            )));
        }
    }
    let stored = old["status"]["storedVersions"].as_array();
    for version in stored.into_iter().flatten() {
        if version_of(after, version).is_none() {
            let name = text(version);
            changes.push(UnsafeChange::rejected(format!(
                "version {name} is removed, and objects are stored in it: migrate them first; \
                 keep it, with served: false if necessary, until each object has been updated and \
                 status.storedVersions of the definition no longer has {name}"
            )));
        }
    }
    for former in before["versions"].as_array().into_iter().flatten() {
        let name = &former["name"];
        let Some(current) = version_of(after, name) else {
            continue;
        };
        let mut comparison = SchemaComparison::new(text(name), &mut changes);
        comparison.compare(schema(former), schema(current), String::new());
    }
    changes
}

fn version_of<'a>(spec: &'a Value, name: &Value) -> Option<&'a Value> {
    let versions = spec["versions"].as_array()?;
    versions.iter().find(|version| version["name"] == *name)
}

fn schema(version: &Value) -> &Value {
    &version["schema"]["openAPIV3Schema"]
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::unsafe_changes;
    use crate::Hazard;

    fn crd(versions: &[(&str, Value)]) -> Value {
        let entries: Vec<Value> = versions
            .iter()
            .map(|(name, spec)| {
                let schema = json!({"type": "object", "properties": {"spec": spec}});
                json!({"name": name, "schema": {"openAPIV3Schema": schema}})
            })
            .collect();
        json!({
            "spec": {"scope": "Namespaced", "names": {"kind": "Site"}, "versions": entries},
            "status": {"storedVersions": ["v1"]},
        })
    }

    fn spec(fields: Value, required: Value) -> Value {
        json!({"type": "object", "properties": fields, "required": required})
    }

    fn changes(old: Value, new: Value) -> Vec<String> {
        let changes = unsafe_changes(&crd(&[("v1", old)]), &crd(&[("v1", new)]));
        changes.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn additions_are_safe() {
        let old = spec(
            json!({"size": {"type": "integer", "maximum": 5}}),
            json!([]),
        );
        let new = spec(
            json!({"size": {"type": "integer", "maximum": 9}, "mode": {"type": "string", "default": "A"}}),
            json!(["mode"]),
        );
        assert_eq!(changes(old, new), Vec::<String>::new());
    }

    #[test]
    fn change_that_invalidates_stored_objects_is_reported() {
        let field = |schema: Value| spec(json!({"x": schema}), json!([]));
        let string = || json!({"type": "string"});
        for (old, new, reason) in [
            (
                field(string()),
                field(json!({"type": "integer"})),
                "v1: .spec.x becomes integer where it was string",
            ),
            (
                field(string()),
                spec(json!({}), json!([])),
                "v1: .spec.x is removed: its values in objects would be dropped",
            ),
            (
                field(string()),
                spec(json!({"x": string()}), json!(["x"])),
                "v1: .spec.x becomes required and has no default",
            ),
            (
                field(json!({"enum": ["A", "B"]})),
                field(json!({"enum": ["A"]})),
                "v1: .spec.x no longer allows \"B\"",
            ),
            (
                field(string()),
                field(json!({"type": "string", "maxLength": 3})),
                "v1: .spec.x has the maxLength 3 from now on",
            ),
            (
                field(json!({"minimum": 1})),
                field(json!({"minimum": 2})),
                "v1: .spec.x has the minimum 2 from now on",
            ),
            (
                field(string()),
                field(json!({"type": "string", "pattern": "a"})),
                "v1: .spec.x has to match \"a\" from now on",
            ),
            (
                field(json!({"type": "array", "items": string()})),
                field(json!({"type": "array", "items": {"type": "object"}})),
                "v1: .spec.x[] becomes object where it was string",
            ),
        ] {
            assert_eq!(changes(old, new), [reason]);
        }
    }

    #[test]
    fn removed_stored_version_is_reported() {
        let same = || spec(json!({}), json!([]));
        let changes = unsafe_changes(&crd(&[("v1", same())]), &crd(&[("v2", same())]));
        let [change] = &changes[..] else {
            panic!("{changes:?}");
        };
        assert_eq!(change.hazard, Hazard::Rejected);
        let start = "version v1 is removed, and objects are stored in it: migrate them first; keep";
        assert!(change.to_string().starts_with(start), "{change}");
    }

    #[test]
    fn changed_scope_or_kind_is_reported() {
        let old = crd(&[]);
        for (path, value, start) in [
            (
                "/spec/scope",
                "Cluster",
                "the scope changes from Namespaced to Cluster: ",
            ),
            (
                "/spec/names/kind",
                "Page",
                "the kind changes from Site to Page: ",
            ),
        ] {
            let mut new = crd(&[]);
            *new.pointer_mut(path).expect("a field") = json!(value);
            let changes = unsafe_changes(&old, &new);
            assert_eq!(changes[0].hazard, Hazard::Rejected);
            assert!(changes[0].to_string().starts_with(start), "{changes:?}");
        }
    }
}
