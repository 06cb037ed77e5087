use std::collections::BTreeMap;

use kubewright::prelude::*;
use serde_json::Value;

use crate::{Error, PatchPolicy, SidecarSet};

/// When annotations are patched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// The Pod is created.
    Injection,
    /// A running Pod is updated: what may be retained stays as it is.
    Update,
}

/// Gives a Pod the annotations of the sets, in their order. What a later one overwrites is left out:
/// on a Pod that has it already, merging into it may not be possible.
pub(crate) fn patch_metadata(
    annotations: &mut BTreeMap<String, String>,
    sets: &[&SidecarSet],
    moment: Moment,
) -> Result<(), Error> {
    let patches: Vec<_> = sets.iter().flat_map(|set| patches_of(set)).collect();
    for (place, patch) in patches.iter().enumerate() {
        let overwrites =
            |later: &Patch<'_>| later.key == patch.key && later.policy == PatchPolicy::Overwrite;
        if patches[place + 1..].iter().any(overwrites) {
            continue;
        }
        let present = annotations.get(patch.key);
        let new = match (patch.policy, present) {
            (PatchPolicy::Retain, Some(_)) => continue,
            (PatchPolicy::Retain, None) if moment == Moment::Update => continue,
            (PatchPolicy::MergePatchJson, present) => {
                let present = present.map_or("{}", String::as_str);
                merged(present, patch.value).ok_or_else(|| Error::NotJson {
                    set: patch.set.name_any(),
                    annotation: patch.key.clone(),
                })?
            }
            (PatchPolicy::Retain, None) | (PatchPolicy::Overwrite, _) => patch.value.clone(),
        };
        annotations.insert(patch.key.clone(), new);
    }
    Ok(())
}

/// One annotation that a set gives to its Pods.
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

fn merged(present: &str, patch: &str) -> Option<String> {
    let mut present = serde_json::from_str(present).ok()?;
    merge(&mut present, serde_json::from_str(patch).ok()?);
    Some(present.to_string())
}

/// RFC 7386.
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

    use super::{Moment, patch_metadata};
    use crate::Error;
    use crate::inject::pod::tests::{Case, pod_of, set_of};

    fn patched(present: Value, patch: Value, moment: Moment) -> Result<Value, Error> {
        let set = set_of("s", json!({"patchPodMetadata": [patch]}));
        let mut annotations: BTreeMap<String, String> = serde_json::from_value(present).unwrap();
        patch_metadata(&mut annotations, &[&set], moment)?;
        let once = annotations.clone();
        patch_metadata(&mut annotations, &[&set], moment)?;
        assert_eq!(annotations, once, "patching twice differs");
        Ok(json!(once))
    }

    #[test]
    fn each_policy_does_what_it_says() {
        let patch =
            |policy: &str, value: &str| json!({"annotations": {"k": value}, "patchPolicy": policy});
        let (create, update) = (Moment::Injection, Moment::Update);
        let (one, two) = (r#"{"a":1,"c":3}"#, r#"{"b":2,"c":null}"#);
        for (present, patch, moment, wanted) in [
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
                patch("MergePatchJson", two),
                create,
                json!({"k": r#"{"b":2}"#}),
            ),
            (
                json!({"k": one}),
                patch("MergePatchJson", two),
                update,
                json!({"k": r#"{"a":1,"b":2}"#}),
            ),
        ] {
            let text = format!("{present} {patch}");
            assert_eq!(patched(present, patch, moment).unwrap(), wanted, "{text}");
        }
        let broken = patched(json!({"k": "no"}), patch("MergePatchJson", two), create);
        assert!(matches!(broken, Err(Error::NotJson { .. })), "{broken:?}");
    }

    /// Validation refuses such sets, but not when both are created at once.
    #[test]
    fn what_another_set_overwrites_is_not_merged_before() {
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
