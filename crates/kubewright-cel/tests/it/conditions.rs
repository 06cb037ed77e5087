//! Match conditions on admission requests.

use kubewright_cel::{
    Budget, CompileError, Condition, ConditionInput, EvaluationError, webhook_environment,
};
use serde_json::{Value as Json, json};

fn compile(rule: &str) -> Result<Condition, CompileError> {
    Condition::compile(rule, webhook_environment())
}

fn request() -> Json {
    json!({
        "operation": "UPDATE", "namespace": "shop", "dryRun": false,
        "kind": {"group": "", "version": "v1", "kind": "Pod"},
        "userInfo": {"username": "ann", "groups": ["devs"]},
    })
}

fn evaluate(
    rule: &str,
    object: Option<&Json>,
    old_object: Option<&Json>,
) -> Result<bool, EvaluationError> {
    let input = ConditionInput {
        object,
        old_object,
        request: &request(),
    };
    let condition = compile(rule).expect(rule);
    condition.evaluate(&input.variables(), &mut Budget::for_match_conditions())
}

fn compile_errors(rule: &str) -> String {
    compile(rule).expect_err(rule).to_string()
}

#[test]
fn conditions_use_both_objects_and_the_request() {
    let rule = "request.operation == 'UPDATE' && object.spec.a != oldObject.spec.a \
                && !request.userInfo.groups.exists(g, g == 'system:nodes') \
                && request.namespace == 'shop' && !has(request.subResource)";
    let (old, new) = (json!({"spec": {"a": 1}}), json!({"spec": {"a": 2}}));
    assert_eq!(evaluate(rule, Some(&new), Some(&old)), Ok(true));
    assert_eq!(evaluate(rule, Some(&old), Some(&old)), Ok(false));
}

#[test]
fn missing_objects_are_null_and_have_no_keys() {
    assert_eq!(evaluate("object == null", None, None), Ok(true));
    assert_eq!(evaluate("!has(object.spec)", None, None), Ok(true));
    for (rule, missing) in [
        ("object.spec.a == 1", "spec"),
        ("request.name == 'x'", "name"),
        ("namespaceObject.metadata.name == 'x'", "metadata"),
    ] {
        let error = EvaluationError::Failed(format!("no such key: {missing}"));
        assert_eq!(evaluate(rule, None, None), Err(error), "{rule}");
    }
}

#[test]
fn fields_of_the_request_are_checked_when_a_condition_is_compiled() {
    assert_eq!(
        compile_errors("request.nope == 'a'"),
        "compilation failed: ERROR: <input>:1:8: undefined field 'nope'\n | request.nope == \
         'a'\n | .......^"
    );
    assert!(compile_errors("request.object.a == 1").contains("undefined field 'object'"));
    assert!(compile_errors("request.dryRun == 'yes'").contains("no matching overload"));
}

#[test]
fn conditions_must_be_of_type_bool() {
    for (rule, actual) in [
        ("'a' + 'b'", "string"),
        ("object.spec", "dyn"),
        ("null", "null_type"),
        ("request.userInfo.groups", "list(string)"),
        ("duration('1s')", "google.protobuf.Duration"),
    ] {
        let expected = format!("must evaluate to bool but got {actual}");
        assert_eq!(compile_errors(rule), expected, "{rule}");
    }
}

#[test]
fn authorizer_is_unsupported() {
    let result = compile("authorizer.path('/').check('get').allowed()");
    assert_eq!(
        result.unwrap_err(),
        CompileError::Unsupported("the variable authorizer".to_owned())
    );
}
