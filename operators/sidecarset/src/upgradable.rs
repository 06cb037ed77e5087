use std::collections::BTreeMap;

use kubewright::prelude::*;
use serde_json::{Value, json};

/// The condition of a Pod that says whether it can follow all sets.
pub const UPGRADABLE: &str = "SidecarSetUpgradable";

/// The patch of a Pod's status that says whether it can follow the set; none when it says so
/// already, or when it can and nobody said otherwise.
pub(crate) fn upgradable_patch(
    set: &str,
    pod: &Pod,
    is_upgradable: bool,
    now: &str,
) -> Option<Value> {
    let status = pod.status.iter();
    let mut conditions = status.flat_map(|one| one.conditions.iter().flatten());
    let former = conditions.find(|one| one.type_ == UPGRADABLE);
    let message = former.and_then(|one| one.message.as_deref());
    let said: Option<BTreeMap<String, bool>> =
        message.and_then(|text| serde_json::from_str(text).ok());
    let mut said = said.unwrap_or_default();
    let known = said.insert(set.to_owned(), is_upgradable);
    if known == Some(is_upgradable) || (is_upgradable && known.is_none()) {
        return None;
    }
    let all = said.values().all(|one| *one);
    let (status, reason) = match all {
        true => ("True", "AllSidecarsetUpgradable"),
        false => ("False", "UpdateImmutableField"),
    };
    let time = former.filter(|one| one.status == status);
    let time = time.and_then(|one| one.last_transition_time.clone());
    Some(
        json!({"metadata": {"uid": pod.metadata.uid}, "status": {"conditions": [{
            "type": UPGRADABLE,
            "status": status,
            "reason": reason,
            "message": json!(said).to_string(),
            "lastTransitionTime": time.map_or_else(|| json!(now), |time| json!(time)),
        }]}}),
    )
}

#[cfg(test)]
mod tests {
    use kubewright::prelude::*;
    use serde_json::{Value, json};

    use super::upgradable_patch;

    fn said(former: Value, is_upgradable: bool) -> Option<(String, String)> {
        let pod = json!({"metadata": {"uid": "u"}, "status": {"conditions": former}});
        let pod: Pod = serde_json::from_value(pod).unwrap();
        let patch = upgradable_patch("s", &pod, is_upgradable, "2026-01-01T00:00:00Z")?;
        let condition = &patch["status"]["conditions"][0];
        let text = |field: &str| condition[field].as_str().unwrap().to_owned();
        Some((text("status"), text("message")))
    }

    fn former(status: &str, message: &str) -> Value {
        json!([{"type": "SidecarSetUpgradable", "status": status, "message": message}])
    }

    #[test]
    fn a_pod_says_once_which_sets_it_cannot_follow() {
        for (conditions, is_upgradable, wanted) in [
            (json!([]), true, None),
            (json!([]), false, Some(("False", r#"{"s":false}"#))),
            (former("False", r#"{"s":false}"#), false, None),
            (
                former("False", r#"{"s":false}"#),
                true,
                Some(("True", r#"{"s":true}"#)),
            ),
            (
                former("False", r#"{"o":false,"s":false}"#),
                true,
                Some(("False", r#"{"o":false,"s":true}"#)),
            ),
            (
                former("True", r#"{"s":true}"#),
                false,
                Some(("False", r#"{"s":false}"#)),
            ),
        ] {
            let wanted = wanted.map(|(one, two)| (one.to_owned(), two.to_owned()));
            assert_eq!(
                said(conditions.clone(), is_upgradable),
                wanted,
                "{conditions}"
            );
        }
    }
}
