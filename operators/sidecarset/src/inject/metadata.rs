//! Patches the annotations of Pods (`patchPodMetadata`).

use std::collections::BTreeMap;

use kubewright::prelude::*;
use serde_json::Value;

use crate::{Error, PatchPolicy, SidecarSet};

/// When annotations are patched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Occasion {
    /// The Pod is created.
    Injection,
    /// A running Pod is updated: annotations of the policy `Retain` are not added.
    Update,
}

/// Adds the annotations of the sets to a Pod, in the order of the sets. A patch that a later one
/// overwrites is skipped: on a Pod that was injected before, it may be impossible to merge into the
/// value of the later one.
pub(crate) fn patch_metadata(
    annotations: &mut BTreeMap<String, String>,
    sets: &[&SidecarSet],
    occasion: Occasion,
) -> Result<(), Error> {
    let patches: Vec<_> = sets.iter().flat_map(|set| patches_of(set)).collect();
    for (index, patch) in patches.iter().enumerate() {
        let overwrites =
            |later: &Patch<'_>| later.key == patch.key && later.policy == PatchPolicy::Overwrite;
        if patches[index + 1..].iter().any(overwrites) {
            continue;
        }
        let present = annotations.get(patch.key);
        let value = match (patch.policy, present) {
            (PatchPolicy::Retain, Some(_)) => continue,
            (PatchPolicy::Retain, None) if occasion == Occasion::Update => continue,
            (PatchPolicy::MergePatchJson, present) => {
                let target = present.map_or("{}", String::as_str);
                merge_json(target, patch.value).ok_or_else(|| Error::NotJson {
                    set: patch.set.name_any(),
                    annotation: patch.key.clone(),
                })?
            }
            (PatchPolicy::Retain, None) | (PatchPolicy::Overwrite, _) => patch.value.clone(),
        };
        annotations.insert(patch.key.clone(), value);
    }
    Ok(())
}

/// One annotation that a set adds to its Pods.
struct Patch<'s> {
    set: &'s SidecarSet,
    key: &'s String,
    value: &'s String,
    policy: PatchPolicy,
}

fn patches_of(set: &SidecarSet) -> impl Iterator<Item = Patch<'_>> {
    set.spec.patch_pod_metadata.iter().flat_map(move |patch| {
        let policy = patch.patch_policy.unwrap_or_default();
        patch.annotations.iter().map(move |(key, value)| Patch {
            set,
            key,
            value,
            policy,
        })
    })
}

fn merge_json(target: &str, patch: &str) -> Option<String> {
    let mut merged = serde_json::from_str(target).ok()?;
    merge(&mut merged, serde_json::from_str(patch).ok()?);
    Some(merged.to_string())
}

/// Applies a JSON merge patch (RFC 7386).
fn merge(target: &mut Value, patch: Value) {
    let Value::Object(patch) = patch else {
        *target = patch;
        return;
    };
    if !target.is_object() {
        *target = Value::Object(serde_json::Map::new());
    }
    let Some(members) = target.as_object_mut() else {
        return;
    };
    for (key, value) in patch {
        match value {
            Value::Null => {
                members.remove(&key);
            }
            value => merge(members.entry(key).or_insert(Value::Null), value),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::{Value, json};

    use super::{Occasion, patch_metadata};
    use crate::Error;
    use crate::inject::fixtures::{Case, pod_of, set_of};

    fn patched(present: Value, patch: Value, occasion: Occasion) -> Result<Value, Error> {
        let set = set_of("s", json!({"patchPodMetadata": [patch]}));
        let mut annotations: BTreeMap<String, String> = serde_json::from_value(present).unwrap();
        patch_metadata(&mut annotations, &[&set], occasion)?;
        let once = annotations.clone();
        patch_metadata(&mut annotations, &[&set], occasion)?;
        assert_eq!(annotations, once, "a second patch changes them");
        Ok(json!(once))
    }

    #[test]
    fn annotation_is_patched_by_its_policy() {
        let patch =
            |policy: &str, value: &str| json!({"annotations": {"k": value}, "patchPolicy": policy});
        let (create, update) = (Occasion::Injection, Occasion::Update);
        let (present_json, patch_json) = (r#"{"a":1,"c":3}"#, r#"{"b":2,"c":null}"#);
        for (present, patch, occasion, expected) in [
            (
                json!({}),
                json!({"annotations": {"k": "v"}}),
                create,
                json!({"k": "v"}),
            ),
            (
                json!({"k": "o"}),
                patch("Retain", "v"),
                create,
                json!({"k": "o"}),
            ),
            (json!({}), patch("Retain", "v"), update, json!({})),
            (
                json!({"k": "o"}),
                patch("Overwrite", "v"),
                create,
                json!({"k": "v"}),
            ),
            (
                json!({"k": "o"}),
                patch("Overwrite", "v"),
                update,
                json!({"k": "v"}),
            ),
            (
                json!({}),
                patch("MergePatchJson", patch_json),
                create,
                json!({"k": r#"{"b":2}"#}),
            ),
            (
                json!({"k": present_json}),
                patch("MergePatchJson", patch_json),
                update,
                json!({"k": r#"{"a":1,"b":2}"#}),
            ),
        ] {
            let text = format!("{present} {patch}");
            assert_eq!(
                patched(present, patch, occasion).unwrap(),
                expected,
                "{text}"
            );
        }
        let invalid = patched(
            json!({"k": "no"}),
            patch("MergePatchJson", patch_json),
            create,
        );
        assert!(matches!(invalid, Err(Error::NotJson { .. })), "{invalid:?}");
    }

    /// The validation rejects such sets, unless both are created at once.
    #[test]
    fn annotation_overwritten_by_another_set_is_not_merged() {
        let set = |name: &str, policy: &str, value: &str| {
            let patch = json!({"annotations": {"k": value}, "patchPolicy": policy});
            set_of(name, json!({"patchPodMetadata": [patch]}))
        };
        let case = Case {
            sets: vec![
                set("one", "MergePatchJson", r#"{"a":1}"#),
                set("two", "Overwrite", "plain"),
            ],
            revisions: Vec::new(),
        };
        let pod = case.inject(pod_of(json!({"name": "p"}))).unwrap();
        assert_eq!(pod.metadata.annotations.unwrap()["k"], "plain");
    }
}
