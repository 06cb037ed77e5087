//! Validation of `matchConditions`.

use std::collections::BTreeSet;

use kubewright_cel::{CompileError, Condition, Environment};
use kubewright_core::format::qualified_name;
use kubewright_wire::status::{Cause, CauseKind};
use serde_json::{Value, json};

use crate::json::{items, text};

/// The most conditions that a webhook or a policy may have.
const MOST: usize = 64;

/// The errors of the conditions of a webhook or a policy (`validateMatchConditions`).
pub fn condition_causes(conditions: &Value, path: &str, environment: &Environment) -> Vec<Cause> {
    let mut causes = Vec::new();
    let count = items(conditions).count();
    if count > MOST {
        let (kind, count) = (CauseKind::FieldValueTooMany, json!(count));
        let detail = format!("must have at most {MOST} items");
        causes.push(Cause::new(kind, path, Some(&count), &detail));
    }
    let mut names: BTreeSet<&str> = BTreeSet::new();
    for (index, condition) in items(conditions).enumerate() {
        let at = |field: &str| format!("{path}[{index}].{field}");
        match text(&condition["expression"]).trim() {
            "" => causes.push(Cause::required(&at("expression"), "")),
            expression => {
                causes.extend(expression_cause(expression, &at("expression"), environment));
            }
        }
        let name = text(&condition["name"]);
        if name.is_empty() {
            causes.push(Cause::required(&at("name"), ""));
            continue;
        }
        for problem in qualified_name(name) {
            causes.push(Cause::invalid(&at("name"), &json!(name), &problem));
        }
        if !names.insert(name) {
            causes.push(Cause::duplicate(&at("name"), &json!(name)));
        }
    }
    causes
}

/// An expression that is only unsupported is valid: [`unsupported_condition`] reports it.
fn expression_cause(expression: &str, path: &str, environment: &Environment) -> Option<Cause> {
    match Condition::compile(expression, environment) {
        Ok(_) | Err(CompileError::Unsupported(_)) => None,
        Err(CompileError::Invalid(why)) => Some(Cause::invalid(path, &json!(expression), &why)),
    }
}

/// The feature of CEL that a condition uses and that is not implemented, if any.
pub fn unsupported_condition(conditions: &Value, environment: &Environment) -> Option<String> {
    items(conditions).find_map(|condition| {
        let expression = text(&condition["expression"]).trim();
        match Condition::compile(expression, environment) {
            Err(error @ CompileError::Unsupported(_)) => Some(error.to_string()),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use kubewright_cel::webhook_environment;
    use serde_json::{Value, json};

    use super::{MOST, condition_causes, unsupported_condition};

    fn causes(conditions: &Value) -> Vec<String> {
        let causes = condition_causes(conditions, "matchConditions", webhook_environment());
        causes.iter().map(|cause| cause.with_field()).collect()
    }

    #[test]
    fn errors_have_the_path_of_the_condition() {
        assert_eq!(causes(&json!(null)), [""; 0]);
        let fine =
            json!([{"name": "a", "expression": " true "}, {"name": "x/b", "expression": "true"}]);
        assert_eq!(causes(&fine), [""; 0]);
        assert_eq!(
            causes(
                &json!([{}, {"name": "a", "expression": "true"}, {"name": "a", "expression": " 1 "}])
            ),
            [
                "matchConditions[0].expression: Required value",
                "matchConditions[0].name: Required value",
                "matchConditions[2].expression: Invalid value: \"1\": must evaluate to bool but \
                 got int",
                "matchConditions[2].name: Duplicate value: \"a\"",
            ]
        );
        let unknown = causes(&json!([{"name": "a", "expression": "nothing"}]));
        assert_eq!(unknown.len(), 1);
        assert!(
            unknown[0].contains("compilation failed: ERROR: <input>:1:1: undeclared reference"),
            "{unknown:?}"
        );
        assert_eq!(
            causes(&json!([{"name": "a b", "expression": "true"}])).len(),
            1
        );
    }

    #[test]
    fn more_than_64_conditions_are_too_many() {
        let conditions = |count: usize| -> Value {
            let condition =
                |index: usize| json!({"name": format!("n{index}"), "expression": "true"});
            (0..count).map(condition).collect()
        };
        assert_eq!(causes(&conditions(MOST)), [""; 0]);
        assert_eq!(
            causes(&conditions(MOST + 1)),
            ["matchConditions: Too many: 65: must have at most 64 items"]
        );
    }

    #[test]
    fn unsupported_expression_is_valid() {
        let conditions = json!([{"name": "a",
            "expression": "authorizer.path('/').check('get').allowed()"}]);
        assert_eq!(causes(&conditions), [""; 0]);
        let what = unsupported_condition(&conditions, webhook_environment()).unwrap();
        assert!(what.contains("authorizer"), "{what}");
        assert_eq!(
            unsupported_condition(
                &json!([{"name": "a", "expression": "nothing"}]),
                webhook_environment()
            ),
            None
        );
    }
}
