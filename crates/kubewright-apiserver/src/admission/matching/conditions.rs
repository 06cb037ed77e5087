use std::collections::BTreeSet;

use kubewright_wire::status::{Cause, CauseKind};
use serde_json::{Value, json};

use crate::cel::{Budget, Condition, Environment, Refusal, SPENT, Variables};
use crate::kinds::formats::qualified_name;

/// The most conditions that a webhook or a policy may have.
const MOST: usize = 64;

/// What is wrong with the conditions of a webhook or a policy (`validateMatchConditions`).
pub(crate) fn condition_causes(
    conditions: &Value,
    path: &str,
    environment: &Environment,
) -> Vec<Cause> {
    let mut causes = Vec::new();
    let conditions = conditions.as_array().map_or(&[][..], Vec::as_slice);
    if conditions.len() > MOST {
        let (kind, count) = (CauseKind::FieldValueTooMany, json!(conditions.len()));
        let detail = format!("must have at most {MOST} items");
        causes.push(Cause::new(kind, path, Some(&count), &detail));
    }
    let mut names: BTreeSet<&str> = BTreeSet::new();
    for (place, condition) in conditions.iter().enumerate() {
        let at = |field: &str| format!("{path}[{place}].{field}");
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

/// What is lacking is no fault of the expression; [`lacking`] names it.
fn expression_cause(expression: &str, path: &str, environment: &Environment) -> Option<Cause> {
    match Condition::compile_in(expression, environment) {
        Ok(_) | Err(Refusal::Lacking(_)) => None,
        Err(Refusal::Wrong(why)) => Some(Cause::invalid(path, &json!(expression), &why)),
    }
}

/// The part of CEL that a condition needs and that is not here, if any.
pub(crate) fn lacking(conditions: &Value, environment: &Environment) -> Option<String> {
    let mut conditions = conditions.as_array().into_iter().flatten();
    conditions.find_map(|condition| {
        let expression = text(&condition["expression"]).trim();
        match Condition::compile_in(expression, environment) {
            Err(refusal @ Refusal::Lacking(_)) => Some(refusal.to_string()),
            _ => None,
        }
    })
}

/// The conditions of a webhook or a policy, compiled.
#[derive(Debug)]
pub(crate) struct Conditions {
    /// With their texts.
    conditions: Vec<(String, Result<Condition, Refusal>)>,
}

impl Conditions {
    pub(crate) fn compile<'a>(
        expressions: impl Iterator<Item = &'a str>,
        environment: &Environment,
    ) -> Self {
        let conditions = expressions.map(|expression| {
            let condition = Condition::compile_in(expression, environment);
            (expression.to_owned(), condition)
        });
        Self {
            conditions: conditions.collect(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.conditions.is_empty()
    }

    /// Whether all of them hold (`Matcher.Match` of `webhook/matchconditions`). One that does not
    /// settles it, also after one that cannot be evaluated. All of them are evaluated before any
    /// counts, so that one that costs too much is told even when another does not hold.
    pub(crate) fn hold(&self, variables: &Variables) -> Result<bool, String> {
        let mut budget = Budget::for_conditions();
        let mut results = Vec::with_capacity(self.conditions.len());
        for (expression, condition) in &self.conditions {
            results.push(evaluate(expression, condition, variables, &mut budget));
            if budget.is_spent() {
                return Err(SPENT.to_owned());
            }
        }
        settled(results)
    }
}

/// The same for conditions that are not compiled yet.
pub(crate) fn all_hold(
    conditions: &[String],
    environment: &Environment,
    variables: &Variables,
) -> Result<bool, String> {
    let conditions = conditions.iter().map(String::as_str);
    Conditions::compile(conditions, environment).hold(variables)
}

fn settled(results: Vec<Result<bool, String>>) -> Result<bool, String> {
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
    match errors.as_slice() {
        [] => Ok(true),
        [one] => Err(one.clone()),
        several => Err(format!("[{}]", several.join(", "))),
    }
}

fn evaluate(
    expression: &str,
    condition: &Result<Condition, Refusal>,
    variables: &Variables,
    budget: &mut Budget,
) -> Result<bool, String> {
    let condition = condition
        .as_ref()
        .map_err(|refusal| format!("compilation error: {refusal}"))?;
    condition
        .holds_for(variables, budget)
        .map_err(|fault| format!("expression '{expression}' resulted in error: {fault}"))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{MOST, SPENT, all_hold, condition_causes, lacking};
    use crate::cel::{ConditionInput, webhook_environment};

    fn causes(conditions: &Value) -> Vec<String> {
        let causes = condition_causes(conditions, "matchConditions", webhook_environment());
        causes.iter().map(|cause| cause.with_field()).collect()
    }

    fn evaluated(conditions: &[&str]) -> Result<bool, String> {
        let conditions: Vec<String> = conditions.iter().map(|&one| one.to_owned()).collect();
        let object = json!({"data": {"word": "yes"}});
        let input = ConditionInput {
            object: Some(&object),
            old_object: None,
            request: &json!({"operation": "CREATE"}),
        };
        all_hold(&conditions, webhook_environment(), &input.variables())
    }

    #[test]
    fn each_broken_condition_is_named() {
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
    fn there_are_at_most_64_conditions() {
        let conditions = |count: usize| -> Value {
            let one = |place: usize| json!({"name": format!("n{place}"), "expression": "true"});
            (0..count).map(one).collect()
        };
        assert_eq!(causes(&conditions(MOST)), [""; 0]);
        assert_eq!(
            causes(&conditions(MOST + 1)),
            ["matchConditions: Too many: 65: must have at most 64 items"]
        );
    }

    #[test]
    fn what_is_lacking_is_no_fault_of_the_author() {
        let conditions = json!([{"name": "a",
            "expression": "authorizer.path('/').check('get').allowed()"}]);
        assert_eq!(causes(&conditions), [""; 0]);
        let what = lacking(&conditions, webhook_environment()).unwrap();
        assert!(what.contains("authorizer"), "{what}");
        assert_eq!(
            lacking(
                &json!([{"name": "a", "expression": "nothing"}]),
                webhook_environment()
            ),
            None
        );
    }

    #[test]
    fn one_that_does_not_hold_settles_it_and_errors_are_told_once() {
        let missing = "object.data.other == 'x'";
        let told = format!("expression '{missing}' resulted in error: no such key: other");
        assert_eq!(evaluated(&[]), Ok(true));
        assert_eq!(evaluated(&["object.data.word == 'yes'", "true"]), Ok(true));
        assert_eq!(evaluated(&[missing, "false"]), Ok(false));
        assert_eq!(evaluated(&[missing, "true"]), Err(told.clone()));
        assert_eq!(evaluated(&[missing, missing]), Err(told.clone()));
        let spaced = " object.data.another == 'x'";
        assert_eq!(
            evaluated(&[missing, spaced]),
            Err(format!(
                "[{told}, expression '{spaced}' resulted in error: no such key: another]"
            ))
        );
    }

    #[test]
    fn conditions_that_cost_too_much_together_are_an_error_even_beside_one_that_does_not_hold() {
        let list = "[1,2,3,4,5,6,7,8,9,10]";
        let dear = format!(
            "{list}.all(a, {list}.all(b, {list}.all(c, {list}.all(d, {list}.all(e, {list}.all(f, \
             {list}.all(g, a + b + c + d + e + f + g > 0)))))))"
        );
        let dear = dear.as_str();
        let one = evaluated(&[dear]).unwrap_err();
        assert!(one.ends_with("actual cost limit exceeded"), "{one}");
        let all = ["false", dear, dear, dear];
        assert_eq!(evaluated(&all), Err(SPENT.to_owned()));
    }
}
