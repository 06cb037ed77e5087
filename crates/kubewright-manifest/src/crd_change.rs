use std::fmt;

use serde_json::Value;

use super::schema_change::Walk;

/// A change of a definition that objects which are stored already may not survive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsafeChange {
    /// What it does to them.
    pub hazard: Hazard,
    /// The version whose schema changes; none when the definition as a whole does.
    pub version: Option<String>,
    change: String,
}

/// What a change of a definition does to objects that are stored already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Hazard {
    /// No API server takes it, objects or not.
    Refused,
    /// Objects mean something else afterwards, though each of them may be valid and whole.
    Meaning,
    /// Objects may be invalid afterwards, or lose fields: each of them tells when it is tried.
    Validity,
}

impl UnsafeChange {
    pub(super) fn of_schema(hazard: Hazard, version: &str, change: String) -> Self {
        Self {
            hazard,
            version: Some(version.to_owned()),
            change,
        }
    }

    fn refused(change: String) -> Self {
        Self {
            hazard: Hazard::Refused,
            version: None,
            change,
        }
    }
}

impl fmt::Display for UnsafeChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.version {
            Some(version) => write!(f, "{version}: {}", self.change),
            None => f.write_str(&self.change),
        }
    }
}

/// Why a definition must not simply take the place of another: what each change would do to
/// objects that are stored already. Nothing when every old object is still valid and whole.
///
/// It is what the Operator Lifecycle Manager checks and more: scope, kind, stored versions, and in
/// the schema of each version fields that go, types that change, values that are no longer
/// allowed, rules that come, and what lists and defaults mean.
pub fn unsafe_changes(old: &Value, new: &Value) -> Vec<UnsafeChange> {
    let mut changes = Vec::new();
    let (before, after) = (&old["spec"], &new["spec"]);
    let refused = [
        ("scope", &before["scope"], &after["scope"]),
        ("kind", &before["names"]["kind"], &after["names"]["kind"]),
    ];
    for (name, former, present) in refused {
        if former != present {
            changes.push(UnsafeChange::refused(format!(
                "the {name} changes from {} to {}: uninstall the definition, install the new one \
                 and make every object again, or give the kind another name",
                text(former),
                text(present)
            )));
        }
    }
    let stored = old["status"]["storedVersions"].as_array();
    for version in stored.into_iter().flatten() {
        if version_of(after, version).is_none() {
            let name = text(version);
            changes.push(UnsafeChange::refused(format!(
                "version {name} goes, and objects are stored in it: migrate them first; keep it, \
                 if need be not served, until each object is written anew and \
                 status.storedVersions of the definition no longer has {name}"
            )));
        }
    }
    for former in before["versions"].as_array().into_iter().flatten() {
        let name = &former["name"];
        let Some(present) = version_of(after, name) else {
            continue;
        };
        let mut walk = Walk::new(text(name), &mut changes);
        walk.compare(schema(former), schema(present), String::new());
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

pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("nothing")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Hazard, unsafe_changes};

    fn crd(versions: &[(&str, Value)]) -> Value {
        let versions: Vec<Value> = versions
            .iter()
            .map(|(name, spec)| {
                let schema = json!({"type": "object", "properties": {"spec": spec}});
                json!({"name": name, "schema": {"openAPIV3Schema": schema}})
            })
            .collect();
        json!({
            "spec": {"scope": "Namespaced", "names": {"kind": "Site"}, "versions": versions},
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
    fn what_only_adds_is_safe() {
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
    fn each_change_that_old_objects_may_break_is_named() {
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
                "v1: .spec.x goes: what objects say there would be dropped",
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
    fn a_version_that_objects_are_stored_in_stays() {
        let same = || spec(json!({}), json!([]));
        let changes = unsafe_changes(&crd(&[("v1", same())]), &crd(&[("v2", same())]));
        let [change] = &changes[..] else {
            panic!("{changes:?}");
        };
        assert_eq!(change.hazard, Hazard::Refused);
        let start = "version v1 goes, and objects are stored in it: migrate them first; keep it";
        assert!(change.to_string().starts_with(start), "{change}");
    }

    #[test]
    fn scope_and_kind_stay() {
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
            assert_eq!(changes[0].hazard, Hazard::Refused);
            assert!(changes[0].to_string().starts_with(start), "{changes:?}");
        }
    }
}
