//! PodDisruptionBudget: a bound on voluntary disruptions.

use serde_json::{Value, json};

use crate::columns::{AGE, Cell, Column, NAME, Row};
use crate::error_list::ErrorList;
use crate::field_path::FieldPath;
use crate::groups;
use crate::int_or_percent::{exceeds_100_percent, validate_int_or_percent};
use crate::kind::{BuiltinKind, FinalizerRule, Generation, Permission, StatusStrategy, Validation};
use crate::label_selector::{SelectorValues, validate_label_selector};

/// A bound on voluntary disruptions.
pub static POD_DISRUPTION_BUDGET: BuiltinKind = BuiltinKind {
    finalizers: FinalizerRule::QualifiedName,
    unconditional_update: Permission::Denied,
    generation: Generation::Content,
    declared_columns: COLUMNS,
    status: StatusStrategy {
        validate: validate_status,
        ..StatusStrategy::DEFAULT
    },
    validation: Validation::Rules(validate),
    ..BuiltinKind::new(
        groups::POLICY,
        "PodDisruptionBudget",
        "poddisruptionbudgets",
    )
};

const COLUMNS: &[Column] = &[
    NAME,
    Column::text(
        "Min Available",
        Cell::Computed(|row| bound_cell(row, "/spec/minAvailable")),
    ),
    Column::text(
        "Max Unavailable",
        Cell::Computed(|row| bound_cell(row, "/spec/maxUnavailable")),
    ),
    Column::integer(
        "Allowed Disruptions",
        Cell::Number("/status/disruptionsAllowed"),
    ),
    AGE,
];

fn bound_cell(row: &Row<'_>, path: &str) -> Value {
    json!(row.shown(path).unwrap_or_else(|| "N/A".to_owned()))
}

/// `ValidatePodDisruptionBudget`.
fn validate(object: &Value, _: Option<&Value>, errors: &mut ErrorList) {
    let spec = FieldPath::new(object, "spec");
    let bounds = ["minAvailable", "maxUnavailable"];
    if bounds.iter().all(|name| spec.has(name)) {
        let field = |name: &str| spec.value().get(name).cloned().unwrap_or_default();
        // As Go prints the internal type, which has no JSON names.
        let shown = format!(
            "{{\"MinAvailable\":{},\"Selector\":{},\"MaxUnavailable\":{},\
             \"UnhealthyPodEvictionPolicy\":{}}}",
            field("minAvailable"),
            field("selector"),
            field("maxUnavailable"),
            field("unhealthyPodEvictionPolicy"),
        );
        let detail = "minAvailable and maxUnavailable cannot be both set";
        errors.invalid_as(spec, &shown, detail);
    }
    for name in bounds {
        let bound = spec.field(name);
        if !bound.is_set() {
            continue;
        }
        validate_int_or_percent(bound, errors);
        if exceeds_100_percent(bound) {
            errors.invalid(bound, "must not be greater than 100%");
        }
    }
    let selector = spec.field("selector");
    if selector.is_set() {
        validate_label_selector(selector, SelectorValues::Checked, errors);
    }
    let policy = spec.field("unhealthyPodEvictionPolicy");
    let known = ["AlwaysAllow", "IfHealthyBudget"];
    if policy.is_set() && !known.contains(&policy.text()) {
        errors.unsupported(policy, &known);
    }
}

/// `ValidatePodDisruptionBudgetStatusUpdate`, except for conditions.
fn validate_status(object: &Value, _old: &Value, errors: &mut ErrorList) {
    let status = FieldPath::new(object, "status");
    for name in [
        "disruptionsAllowed",
        "currentHealthy",
        "desiredHealthy",
        "expectedPods",
    ] {
        errors.non_negative(status.field(name));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::POD_DISRUPTION_BUDGET;

    fn errors(spec: &Value) -> Vec<String> {
        POD_DISRUPTION_BUDGET.errors(&json!({"spec": spec}), None)
    }

    #[test]
    fn budget_has_one_bound_of_at_most_100_percent() {
        assert!(errors(&json!({"minAvailable": "100%"})).is_empty());
        assert_eq!(
            errors(&json!({"maxUnavailable": "101%"})),
            ["spec.maxUnavailable: Invalid value: \"101%\": must not be greater than 100%"]
        );
        assert_eq!(
            errors(&json!({"minAvailable": 1, "maxUnavailable": 1})).len(),
            1
        );
        assert_eq!(
            errors(&json!({"unhealthyPodEvictionPolicy": "Never"})),
            [
                "spec.unhealthyPodEvictionPolicy: Unsupported value: \"Never\": supported values: \
                 \"AlwaysAllow\", \"IfHealthyBudget\""
            ]
        );
    }
}
