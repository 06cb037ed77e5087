//! Graceful deletion.

use serde_json::Value;

use crate::json::text;

/// The default of `terminationGracePeriodSeconds`.
const DEFAULT: i64 = 30;

/// The grace period of the request, or else that of the Pod. It is 0 for a Pod that no kubelet
/// runs (`podStrategy.CheckGracefulDelete`).
pub(super) fn grace_period(pod: &Value, requested: Option<i64>) -> i64 {
    let spec = &pod["spec"];
    let is_scheduled = !text(&spec["nodeName"]).is_empty();
    let is_completed = matches!(text(&pod["status"]["phase"]), "Succeeded" | "Failed");
    if !is_scheduled || is_completed {
        return 0;
    }
    let seconds = requested
        .or_else(|| spec["terminationGracePeriodSeconds"].as_i64())
        .unwrap_or(DEFAULT);
    if seconds < 0 { 1 } else { seconds }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::grace_period;

    #[test]
    fn only_a_running_pod_on_a_node_has_a_grace_period() {
        let spec = json!({"nodeName": "n", "terminationGracePeriodSeconds": 5});
        let pod = json!({"spec": spec});
        assert_eq!(grace_period(&pod, None), 5);
        assert_eq!(grace_period(&pod, Some(2)), 2);
        assert_eq!(grace_period(&pod, Some(-7)), 1);
        assert_eq!(grace_period(&json!({"spec": {}}), Some(9)), 0);
        let done = json!({"spec": spec, "status": {"phase": "Succeeded"}});
        assert_eq!(grace_period(&done, None), 0);
    }
}
