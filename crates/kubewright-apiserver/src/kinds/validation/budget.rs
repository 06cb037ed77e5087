use serde_json::Value;

use super::deployment::{count_or_percent, is_over_all};
use super::labels::{SelectorValues, label_selector};
use super::{At, Findings};

/// `ValidatePodDisruptionBudget`.
pub(super) fn budget(object: &Value, _: Option<&Value>, findings: &mut Findings) {
    let spec = At::top(object, "spec");
    let amounts = ["minAvailable", "maxUnavailable"];
    if amounts.iter().all(|name| spec.has(name)) {
        let field = |name: &str| spec.value().get(name).cloned().unwrap_or_default();
        // The names of the fields in Go, which has no others for them.
        let shown = format!(
            "{{\"MinAvailable\":{},\"Selector\":{},\"MaxUnavailable\":{},\
             \"UnhealthyPodEvictionPolicy\":{}}}",
            field("minAvailable"),
            field("selector"),
            field("maxUnavailable"),
            field("unhealthyPodEvictionPolicy"),
        );
        let detail = "minAvailable and maxUnavailable cannot be both set";
        findings.invalid_as(spec, &shown, detail);
    }
    for name in amounts {
        let amount = spec.field(name);
        if !amount.is_set() {
            continue;
        }
        count_or_percent(amount, findings);
        if is_over_all(amount) {
            findings.invalid(amount, "must not be greater than 100%");
        }
    }
    let selector = spec.field("selector");
    if selector.is_set() {
        label_selector(selector, SelectorValues::Checked, findings);
    }
    let policy = spec.field("unhealthyPodEvictionPolicy");
    let known = ["AlwaysAllow", "IfHealthyBudget"];
    if policy.is_set() && !known.contains(&policy.text()) {
        findings.unsupported(policy, &known);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::Findings;
    use super::budget;

    fn faults(spec: Value) -> Vec<String> {
        let mut findings = Findings::default();
        budget(&json!({"spec": spec}), None, &mut findings);
        let causes = findings.into_causes();
        causes.iter().map(|cause| cause.with_field()).collect()
    }

    #[test]
    fn a_budget_has_one_bound_of_at_most_everything() {
        assert!(faults(json!({"minAvailable": "100%"})).is_empty());
        assert_eq!(
            faults(json!({"maxUnavailable": "101%"})),
            ["spec.maxUnavailable: Invalid value: \"101%\": must not be greater than 100%"]
        );
        assert_eq!(
            faults(json!({"minAvailable": 1, "maxUnavailable": 1})).len(),
            1
        );
        assert_eq!(
            faults(json!({"unhealthyPodEvictionPolicy": "Never"})),
            [
                "spec.unhealthyPodEvictionPolicy: Unsupported value: \"Never\": supported values: \
                 \"AlwaysAllow\", \"IfHealthyBudget\""
            ]
        );
    }
}
