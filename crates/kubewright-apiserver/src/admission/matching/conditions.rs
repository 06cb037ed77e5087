//! Match conditions: the CEL expressions that a request must meet before a webhook or policy sees it.

use std::collections::BTreeSet;

use kubewright_cel::{Budget, CompileError, Condition, Environment, OUT_OF_BUDGET, Variables};
use kubewright_kinds::json::{items, text};
use serde_json::Value;

use crate::aggregate::aggregate;

/// The compiled conditions of a webhook or a policy.
#[derive(Debug)]
pub(crate) struct Conditions {
    conditions: Vec<NamedCondition>,
}

/// A condition with its expression, which error messages quote.
#[derive(Debug)]
struct NamedCondition {
    expression: String,
    condition: Result<Condition, CompileError>,
}

impl Conditions {
    pub(crate) fn compile<'a>(
        expressions: impl Iterator<Item = &'a str>,
        environment: &Environment,
    ) -> Self {
        let conditions = expressions.map(|expression| NamedCondition {
            expression: expression.to_owned(),
            condition: Condition::compile(expression, environment),
        });
        Self {
            conditions: conditions.collect(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.conditions.is_empty()
    }

    /// Whether all conditions are true (`Matcher.Match` of `webhook/matchconditions`).
    ///
    /// A false condition outweighs the errors of others. All conditions are evaluated first: an
    /// exhausted budget is an error even when a condition is false.
    pub(crate) fn hold(&self, variables: &Variables) -> Result<bool, String> {
        let mut budget = Budget::for_match_conditions();
        let mut results = Vec::with_capacity(self.conditions.len());
        for condition in &self.conditions {
            results.push(condition.evaluate(variables, &mut budget));
            if budget.is_exhausted() {
                return Err(OUT_OF_BUDGET.to_owned());
            }
        }
        combine(results)
    }
}

impl NamedCondition {
    fn evaluate(&self, variables: &Variables, budget: &mut Budget) -> Result<bool, String> {
        let condition = self
            .condition
            .as_ref()
            .map_err(|error| format!("compilation error: {error}"))?;
        condition.evaluate(variables, budget).map_err(|error| {
            let expression = &self.expression;
            format!("expression '{expression}' resulted in error: {error}")
        })
    }
}

/// The expressions of the match conditions of a webhook, or of the spec of a policy.
pub(crate) fn condition_texts(value: &Value) -> impl Iterator<Item = &str> {
    items(&value["matchConditions"]).map(|condition| text(&condition["expression"]))
}

/// False if any result is false; else the distinct errors, if any; else true.
fn combine(results: Vec<Result<bool, String>>) -> Result<bool, String> {
    let mut seen = BTreeSet::new();
    let mut errors: Vec<String> = Vec::new();
    for result in results {
        match result {
            Ok(true) => {}
            Ok(false) => return Ok(false),
            Err(why) => {
                if seen.insert(why.clone()) {
                    errors.push(why);
                }
            }
        }
    }
    if errors.is_empty() {
        Ok(true)
    } else {
        Err(aggregate(&errors))
    }
}

#[cfg(test)]
mod tests {
    use kubewright_cel::{ConditionInput, webhook_environment};
    use serde_json::json;

    use super::{Conditions, OUT_OF_BUDGET};

    fn evaluated(conditions: &[&str]) -> Result<bool, String> {
        let compiled = Conditions::compile(conditions.iter().copied(), webhook_environment());
        let object = json!({"data": {"word": "yes"}});
        let input = ConditionInput {
            object: Some(&object),
            old_object: None,
            request: &json!({"operation": "CREATE"}),
        };
        compiled.hold(&input.variables())
    }

    #[test]
    fn false_condition_outweighs_errors_and_equal_errors_are_listed_once() {
        let missing = "object.data.other == 'x'";
        let error = format!("expression '{missing}' resulted in error: no such key: other");
        assert_eq!(evaluated(&[]), Ok(true));
        assert_eq!(evaluated(&["object.data.word == 'yes'", "true"]), Ok(true));
        assert_eq!(evaluated(&[missing, "false"]), Ok(false));
        assert_eq!(evaluated(&[missing, "true"]), Err(error.clone()));
        assert_eq!(evaluated(&[missing, missing]), Err(error.clone()));
        let spaced = " object.data.another == 'x'";
        assert_eq!(
            evaluated(&[missing, spaced]),
            Err(format!(
                "[{error}, expression '{spaced}' resulted in error: no such key: another]"
            ))
        );
    }

    #[test]
    fn exhausted_budget_is_an_error_even_beside_a_false_condition() {
        let list = "[1,2,3,4,5,6,7,8,9,10]";
        let expensive = format!(
            "{list}.all(a, {list}.all(b, {list}.all(c, {list}.all(d, {list}.all(e, {list}.all(f, \
             {list}.all(g, a + b + c + d + e + f + g > 0)))))))"
        );
        let error = evaluated(&[&expensive]).unwrap_err();
        assert!(error.ends_with("actual cost limit exceeded"), "{error}");
        let all = ["false", &expensive, &expensive, &expensive];
        assert_eq!(evaluated(&all), Err(OUT_OF_BUDGET.to_owned()));
    }
}
