//! Unsafe changes of definitions since an earlier version of the manifests.

use kubewright_manifest::unsafe_changes;
use serde_json::{Value, json};

use super::finding::{Finding, Findings, Rule};

/// Compares the definitions among the objects with earlier ones.
pub(super) fn check_changes(earlier: &[Value], current: &[Value]) -> Vec<Finding> {
    let mut all = Vec::new();
    for old in earlier.iter().filter(|object| is_definition(object)) {
        let mut findings = Findings::of(old);
        let name = &old["metadata"]["name"];
        let new = current
            .iter()
            .find(|object| is_definition(object) && object["metadata"]["name"] == *name);
        match new {
            Some(new) => {
                for change in unsafe_changes(&with_stored_versions(old), new) {
                    findings.add(Rule::Change, "", change.to_string());
                }
            }
            None => findings.add(
                Rule::Change,
                "",
                "the definition is removed: deleting it from a cluster deletes all its objects",
            ),
        }
        all.extend(findings.into_vec());
    }
    all
}

fn is_definition(object: &Value) -> bool {
    object["kind"] == "CustomResourceDefinition"
}

/// Returns the definition with the status that a cluster with objects of it has: they are stored in
/// the storage version.
fn with_stored_versions(definition: &Value) -> Value {
    let mut stored = definition.clone();
    if stored["status"]["storedVersions"].is_null() {
        let versions = definition["spec"]["versions"].as_array();
        let names: Vec<&Value> = versions
            .into_iter()
            .flatten()
            .filter(|version| version["storage"] == true)
            .map(|version| &version["name"])
            .collect();
        stored["status"] = json!({"storedVersions": names});
    }
    stored
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::check_changes;

    fn definition(name: &str, version: &str) -> Value {
        json!({"kind": "CustomResourceDefinition", "metadata": {"name": name},
            "spec": {"versions": [{"name": version, "storage": true}]}})
    }

    #[test]
    fn removed_definition_and_removed_stored_version_are_findings() {
        let earlier = [definition("a", "v1"), definition("b", "v1")];
        let current = [definition("b", "v2"), definition("c", "v1")];
        let findings = check_changes(&earlier, &current);
        let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
        assert_eq!(
            lines,
            [
                "change: CustomResourceDefinition a: the definition is removed: deleting it from a \
                 cluster deletes all its objects",
                "change: CustomResourceDefinition b: version v1 is removed, and objects are stored \
                 in it: migrate them first; keep it, with served: false if necessary, until each \
                 object has been updated and status.storedVersions of the definition no longer has \
                 v1",
            ]
        );
        assert!(check_changes(&current, &current).is_empty());
    }
}
