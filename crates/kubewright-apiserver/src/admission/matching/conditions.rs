use std::collections::BTreeSet;

use kubewright_cel::{Budget, CompileError, Condition, Environment, OUT_OF_BUDGET, Variables};

/// The conditions of a webhook or a policy, compiled.
#[derive(Debug)]
pub(crate) struct Conditions {
    /// With their texts.
    conditions: Vec<(String, Result<Condition, CompileError>)>,
}

impl Conditions {
    pub(crate) fn compile<'a>(
        expressions: impl Iterator<Item = &'a str>,
        environment: &Environment,
    ) -> Self {
        let conditions = expressions.map(|expression| {
            let condition = Condition::compile(expression, environment);
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
        let mut budget = Budget::for_match_conditions();
        let mut results = Vec::with_capacity(self.conditions.len());
        for (expression, condition) in &self.conditions {
            results.push(evaluate(expression, condition, variables, &mut budget));
            if budget.is_exhausted() {
                return Err(OUT_OF_BUDGET.to_owned());
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
    condition: &Result<Condition, CompileError>,
    variables: &Variables,
    budget: &mut Budget,
) -> Result<bool, String> {
    let condition = condition
        .as_ref()
        .map_err(|refusal| format!("compilation error: {refusal}"))?;
    condition
        .evaluate(variables, budget)
        .map_err(|fault| format!("expression '{expression}' resulted in error: {fault}"))
}

#[cfg(test)]
mod tests {
    use kubewright_cel::{ConditionInput, webhook_environment};
    use serde_json::json;

    use super::{OUT_OF_BUDGET, all_hold};

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
        assert_eq!(evaluated(&all), Err(OUT_OF_BUDGET.to_owned()));
    }
}
