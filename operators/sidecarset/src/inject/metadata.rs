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

/// Gives a Pod the annotations of a set.
pub(crate) fn patch_metadata(
    annotations: &mut BTreeMap<String, String>,
    set: &SidecarSet,
    moment: Moment,
) -> Result<(), Error> {
    for patch in &set.spec.patch_pod_metadata {
        for (key, value) in &patch.annotations {
            let present = annotations.get(key);
            let new = match (patch.patch_policy.unwrap_or_default(), present) {
                (PatchPolicy::Retain, Some(_)) => continue,
                (PatchPolicy::Retain, None) if moment == Moment::Update => continue,
                (PatchPolicy::MergePatchJson, present) => {
                    let present = present.map_or("{}", String::as_str);
                    merged(present, value).ok_or_else(|| Error::NotJson {
                        set: set.name_any(),
                        annotation: key.clone(),
                    })?
                }
                (PatchPolicy::Retain, None) | (PatchPolicy::Overwrite, _) => value.clone(),
            };
            annotations.insert(key.clone(), new);
        }
    }
    Ok(())
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
    use crate::inject::pod::tests::set_of;

    fn patched(present: Value, patch: Value, moment: Moment) -> Result<Value, Error> {
        let set = set_of("s", json!({"patchPodMetadata": [patch]}));
        let mut annotations: BTreeMap<String, String> = serde_json::from_value(present).unwrap();
        patch_metadata(&mut annotations, &set, moment)?;
        let once = annotations.clone();
        patch_metadata(&mut annotations, &set, moment)?;
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
}
