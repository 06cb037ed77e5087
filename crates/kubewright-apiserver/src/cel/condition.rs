use serde_json::Value as Json;

use super::budget::Budget;
use super::environment::Environment;
use super::problem::{Fault, Refusal};
use super::program::{Program, Variables};
use super::types::Type;
use super::value::Value;

/// A condition on a request, such as one of a webhook's `matchConditions`.
#[derive(Clone, Debug)]
pub(crate) struct Condition {
    program: Program,
}

/// What a condition looks at: the variables `object`, `oldObject` and `request`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConditionInput<'a> {
    /// The object as it would be; none for a deletion.
    pub(crate) object: Option<&'a Json>,
    /// The object as it was; none for a creation.
    pub(crate) old_object: Option<&'a Json>,
    /// The `request` of an AdmissionReview, without its objects.
    pub(crate) request: &'a Json,
}

impl Condition {
    /// Reads and checks a condition.
    pub(crate) fn compile(expression: &str) -> Result<Self, Refusal> {
        let environment = Environment::default()
            .variable("object", Type::Dyn)
            .variable("oldObject", Type::Dyn)
            .variable("request", Type::Dyn)
            .lacks("authorizer");
        let program = Program::compile(expression, &environment)?;
        match program.gives() {
            Type::Bool | Type::Dyn => Ok(Self { program }),
            _ => Err(Refusal::Wrong("must evaluate to bool".to_owned())),
        }
    }

    /// Whether it holds.
    pub(crate) fn holds(
        &self,
        input: ConditionInput<'_>,
        budget: &mut Budget,
    ) -> Result<bool, Fault> {
        let value = |json: Option<&Json>| {
            json.map_or(Value::Null, |json| Value::from_json(json, &Type::Dyn))
        };
        let variables = Variables::from([
            ("object", value(input.object)),
            ("oldObject", value(input.old_object)),
            ("request", value(Some(input.request))),
        ]);
        match self.program.evaluate(&variables, budget)? {
            Value::Bool(holds) => Ok(holds),
            _ => Err(Fault::no_overload()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Budget, Condition, ConditionInput, Refusal};

    #[test]
    fn a_condition_sees_both_objects_and_the_request() {
        let rule = "request.operation == 'UPDATE' && object.spec.a != oldObject.spec.a \
                    && !request.userInfo.groups.exists(g, g == 'system:nodes')";
        let condition = Condition::compile(rule).unwrap();
        let request = json!({"operation": "UPDATE", "userInfo": {"groups": ["devs"]}});
        let (old, new) = (json!({"spec": {"a": 1}}), json!({"spec": {"a": 2}}));
        let ask = |object, old_object| {
            let input = ConditionInput {
                object,
                old_object,
                request: &request,
            };
            condition.holds(input, &mut Budget::default())
        };
        assert_eq!(ask(Some(&new), Some(&old)), Ok(true));
        assert_eq!(ask(Some(&old), Some(&old)), Ok(false));
        assert!(ask(None, Some(&old)).is_err());
    }

    #[test]
    fn the_authorizer_is_lacking_and_text_is_no_condition() {
        let lacking = Condition::compile("authorizer.path('/').check('get').allowed()");
        assert_eq!(
            lacking.unwrap_err(),
            Refusal::Lacking("the variable authorizer".to_owned())
        );
        assert!(Condition::compile("'a' + 'b'").is_err());
    }
}
