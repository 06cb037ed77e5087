use std::sync::LazyLock;

use serde_json::Value as Json;

use super::admission_types::{namespace_type, request_type};
use super::budget::Budget;
use super::environment::Environment;
use super::problem::{Fault, Refusal};
use super::program::{Program, Variables};
use super::types::Type;
use super::value::Value;

/// What all expressions about a request can use.
pub(crate) fn request_environment() -> &'static Environment {
    static ENVIRONMENT: LazyLock<Environment> = LazyLock::new(|| {
        Environment::default()
            .variable("object", Type::Dyn)
            .variable("oldObject", Type::Dyn)
            .variable("namespaceObject", namespace_type())
            .variable("request", request_type())
    });
    &ENVIRONMENT
}

/// What the conditions of webhooks can use; `authorizer` has `authorizer.requestResource` below it.
pub(crate) fn webhook_environment() -> &'static Environment {
    static ENVIRONMENT: LazyLock<Environment> =
        LazyLock::new(|| request_environment().clone().lacks("authorizer"));
    &ENVIRONMENT
}

/// A condition on a request, such as one of a webhook's `matchConditions`.
#[derive(Clone, Debug)]
pub(crate) struct Condition {
    program: Program,
}

/// What a condition looks at: the variables `object`, `oldObject` and `request`. There is no
/// `namespaceObject` for conditions: it is declared, and always null.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConditionInput<'a> {
    /// The object as it would be; none for a deletion.
    pub(crate) object: Option<&'a Json>,
    /// The object as it was; none for a creation.
    pub(crate) old_object: Option<&'a Json>,
    /// The `request` of an AdmissionReview; its objects are not seen.
    pub(crate) request: &'a Json,
}

impl ConditionInput<'_> {
    /// The values of the variables.
    pub(crate) fn variables(&self) -> Variables {
        let value = |json: Option<&Json>| {
            json.map_or(Value::Null, |json| Value::from_json(json, &Type::Dyn))
        };
        let environment = request_environment();
        let request_type = environment.find("request").unwrap_or(&Type::Dyn);
        Variables::from([
            ("object", value(self.object)),
            ("oldObject", value(self.old_object)),
            ("namespaceObject", Value::Null),
            ("request", Value::from_json(self.request, request_type)),
        ])
    }
}

impl Condition {
    /// Reads and checks a condition.
    pub(crate) fn compile_in(expression: &str, environment: &Environment) -> Result<Self, Refusal> {
        let program = Program::compile_as(expression, environment, &[Type::Bool])?;
        Ok(Self { program })
    }

    /// Whether it holds.
    pub(crate) fn holds_for(
        &self,
        variables: &Variables,
        budget: &mut Budget,
    ) -> Result<bool, Fault> {
        match self.program.evaluate(variables, budget)? {
            Value::Bool(holds) => Ok(holds),
            _ => Err(Fault::no_overload()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::{Budget, Condition, ConditionInput, Fault, Refusal, webhook_environment};

    fn compile(rule: &str) -> Result<Condition, Refusal> {
        Condition::compile_in(rule, webhook_environment())
    }

    fn request() -> Json {
        json!({
            "operation": "UPDATE", "namespace": "shop", "dryRun": false,
            "kind": {"group": "", "version": "v1", "kind": "Pod"},
            "userInfo": {"username": "ann", "groups": ["devs"]},
        })
    }

    fn ask(rule: &str, object: Option<&Json>, old_object: Option<&Json>) -> Result<bool, Fault> {
        let input = ConditionInput {
            object,
            old_object,
            request: &request(),
        };
        let condition = compile(rule).unwrap();
        condition.holds_for(&input.variables(), &mut Budget::for_conditions())
    }

    fn refused(rule: &str) -> String {
        match compile(rule) {
            Err(Refusal::Wrong(why)) => why,
            other => panic!("{rule}: {other:?}"),
        }
    }

    #[test]
    fn a_condition_sees_both_objects_and_the_request() {
        let rule = "request.operation == 'UPDATE' && object.spec.a != oldObject.spec.a \
                    && !request.userInfo.groups.exists(g, g == 'system:nodes') \
                    && request.namespace == 'shop' && !has(request.subResource)";
        let (old, new) = (json!({"spec": {"a": 1}}), json!({"spec": {"a": 2}}));
        assert_eq!(ask(rule, Some(&new), Some(&old)), Ok(true));
        assert_eq!(ask(rule, Some(&old), Some(&old)), Ok(false));
    }

    #[test]
    fn what_is_not_there_is_null_and_has_no_fields() {
        assert_eq!(ask("object == null", None, None), Ok(true));
        assert_eq!(ask("!has(object.spec)", None, None), Ok(true));
        for (rule, missing) in [
            ("object.spec.a == 1", "spec"),
            ("request.name == 'x'", "name"),
            ("namespaceObject.metadata.name == 'x'", "metadata"),
        ] {
            let fault = Fault::Failed(format!("no such key: {missing}"));
            assert_eq!(ask(rule, None, None), Err(fault), "{rule}");
        }
    }

    #[test]
    fn the_fields_of_a_request_are_known_before() {
        assert_eq!(
            refused("request.nope == 'a'"),
            "compilation failed: ERROR: <input>:1:8: undefined field 'nope'\n | request.nope == \
             'a'\n | .......^"
        );
        assert!(refused("request.object.a == 1").contains("undefined field 'object'"));
        assert!(refused("request.dryRun == 'yes'").contains("no matching overload"));
    }

    #[test]
    fn a_condition_is_a_bool_and_nothing_else() {
        for (rule, given) in [
            ("'a' + 'b'", "string"),
            ("object.spec", "dyn"),
            ("null", "null_type"),
            ("request.userInfo.groups", "list(string)"),
            ("duration('1s')", "google.protobuf.Duration"),
        ] {
            let wanted = format!("must evaluate to bool but got {given}");
            assert_eq!(refused(rule), wanted, "{rule}");
        }
    }

    #[test]
    fn the_authorizer_is_lacking() {
        let lacking = compile("authorizer.path('/').check('get').allowed()");
        assert_eq!(
            lacking.unwrap_err(),
            Refusal::Lacking("the variable authorizer".to_owned())
        );
    }
}
