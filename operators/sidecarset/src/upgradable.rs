//! The condition of Pods that reports whether running Pods can follow their sets.

use std::collections::BTreeMap;

use kubewright::prelude::*;
use serde_json::{Value, json};

/// The condition of a Pod that reports whether it can be updated in place to all of its sets. The
/// message is a map from sets to booleans, as in OpenKruise.
pub const UPGRADABLE: &str = "SidecarSetUpgradable";

/// Returns the patch of a Pod's status that reports whether it can be updated to the set. Returns
/// none if the condition reports that already, or if it can and the condition has no entry of the
/// set.
pub(crate) fn upgradable_patch(
    set: &str,
    pod: &Pod,
    is_upgradable: bool,
    now: &str,
) -> Option<Value> {
    let conditions = pod
        .status
        .as_ref()
        .and_then(|status| status.conditions.as_ref());
    let old = conditions
        .into_iter()
        .flatten()
        .find(|condition| condition.type_ == UPGRADABLE);
    let mut sets: BTreeMap<String, bool> = old
        .and_then(|condition| serde_json::from_str(condition.message.as_deref()?).ok())
        .unwrap_or_default();
    let previous = sets.insert(set.to_owned(), is_upgradable);
    if previous == Some(is_upgradable) || (is_upgradable && previous.is_none()) {
        return None;
    }
    let (status, reason) = if sets.values().all(|is_upgradable| *is_upgradable) {
        ("True", "AllSidecarsetUpgradable")
    } else {
        ("False", "UpdateImmutableField")
    };
    let since = old
        .filter(|condition| condition.status == status)
        .and_then(|condition| condition.last_transition_time.clone());
    Some(
        json!({"metadata": {"uid": pod.metadata.uid}, "status": {"conditions": [{
            "type": UPGRADABLE,
            "status": status,
            "reason": reason,
            "message": json!(sets).to_string(),
            "lastTransitionTime": since.map_or_else(|| json!(now), |since| json!(since)),
        }]}}),
    )
}

#[cfg(test)]
mod tests {
    use kubewright::prelude::*;
    use serde_json::{Value, json};

    use super::upgradable_patch;

    /// The status and the message of the patch for a Pod with these conditions.
    fn patched(conditions: Value, is_upgradable: bool) -> Option<(String, String)> {
        let pod = json!({"metadata": {"uid": "u"}, "status": {"conditions": conditions}});
        let pod: Pod = serde_json::from_value(pod).unwrap();
        let patch = upgradable_patch("s", &pod, is_upgradable, "2026-01-01T00:00:00Z")?;
        let condition = &patch["status"]["conditions"][0];
        let text = |field: &str| condition[field].as_str().unwrap().to_owned();
        Some((text("status"), text("message")))
    }

    fn condition(status: &str, message: &str) -> Value {
        json!([{"type": "SidecarSetUpgradable", "status": status, "message": message}])
    }

    #[test]
    fn condition_lists_each_set_once_with_whether_the_pod_can_follow_it() {
        for (conditions, is_upgradable, expected) in [
            (json!([]), true, None),
            (json!([]), false, Some(("False", r#"{"s":false}"#))),
            (condition("False", r#"{"s":false}"#), false, None),
            (
                condition("False", r#"{"s":false}"#),
                true,
                Some(("True", r#"{"s":true}"#)),
            ),
            (
                condition("False", r#"{"o":false,"s":false}"#),
                true,
                Some(("False", r#"{"o":false,"s":true}"#)),
            ),
            (
                condition("True", r#"{"s":true}"#),
                false,
                Some(("False", r#"{"s":false}"#)),
            ),
        ] {
            let patch = patched(conditions.clone(), is_upgradable);
            let found = patch
                .as_ref()
                .map(|(status, message)| (status.as_str(), message.as_str()));
            assert_eq!(found, expected, "{conditions}");
        }
    }
}
