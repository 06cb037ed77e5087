//! Policies that use features of CEL which are not implemented.

use kubewright_cel::CompileError;
use kubewright_core::WebhookKind;
use serde_json::Value;

use super::expressions::Expressions;
use super::match_conditions::unsupported_condition;
use crate::json::{items, text};

/// The first expression of a policy that uses a feature of CEL which is not implemented.
pub(super) fn unsupported_policy(kind: WebhookKind, policy: &Value) -> Option<String> {
    let name = match kind {
        WebhookKind::Validating => "ValidatingAdmissionPolicy",
        WebhookKind::Mutating => "MutatingAdmissionPolicy",
    };
    let (field, what) = unsupported_field(kind, &policy["spec"])?;
    let policy_name = &policy["metadata"]["name"];
    Some(format!("{field} of {name} {policy_name}: {what}"))
}

/// The first field with such an expression, and the feature.
fn unsupported_field(kind: WebhookKind, spec: &Value) -> Option<(String, String)> {
    let mut expressions = Expressions::new(kind, spec);
    let conditions = &spec["matchConditions"];
    if let Some(what) = unsupported_condition(conditions, expressions.conditions()) {
        return Some(("spec.matchConditions".to_owned(), what));
    }
    for (index, variable) in items(&spec["variables"]).enumerate() {
        let (name, expression) = (text(&variable["name"]), text(&variable["expression"]));
        if let Some(what) = unsupported(expressions.add_variable(name, expression)) {
            return Some((format!("spec.variables[{index}]"), what));
        }
    }
    for (index, validation) in items(&spec["validations"]).enumerate() {
        let rule = expressions.validation(text(&validation["expression"]));
        let message = expressions.message(text(&validation["messageExpression"]));
        if let Some(what) = unsupported(rule).or_else(|| unsupported(message)) {
            return Some((format!("spec.validations[{index}]"), what));
        }
    }
    for (index, annotation) in items(&spec["auditAnnotations"]).enumerate() {
        let value = expressions.audit_annotation(text(&annotation["valueExpression"]));
        if let Some(what) = unsupported(value) {
            return Some((format!("spec.auditAnnotations[{index}]"), what));
        }
    }
    for (index, mutation) in items(&spec["mutations"]).enumerate() {
        let patch = expressions.json_patch(text(&mutation["jsonPatch"]["expression"]));
        let configuration = text(&mutation["applyConfiguration"]["expression"]);
        let applied = expressions.apply_configuration(configuration);
        if let Some(what) = unsupported(patch).or_else(|| unsupported(applied)) {
            return Some((format!("spec.mutations[{index}]"), what));
        }
    }
    None
}

fn unsupported<T>(compiled: Result<T, CompileError>) -> Option<String> {
    match compiled {
        Err(error @ CompileError::Unsupported(_)) => Some(error.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use kubewright_core::WebhookKind;
    use serde_json::{Value, json};

    use super::unsupported_policy;

    fn unsupported(kind: WebhookKind, spec: Value) -> Option<String> {
        unsupported_policy(kind, &json!({"metadata": {"name": "p"}, "spec": spec}))
    }

    #[test]
    fn unsupported_feature_is_reported_with_its_field() {
        let validating = WebhookKind::Validating;
        let fine = json!({"validations": [{"expression": "object.a == 1"}]});
        assert_eq!(unsupported(validating, fine), None);
        let wrong = json!({"validations": [{"expression": "nothing"}]});
        assert_eq!(unsupported(validating, wrong), None);
        let authorizes = json!({
            "validations": [{"expression": "true"},
                {"expression": "authorizer.path('/').check('get').allowed()"}],
        });
        assert_eq!(
            unsupported(validating, authorizes).as_deref(),
            Some(
                "spec.validations[1] of ValidatingAdmissionPolicy \"p\": the variable authorizer \
                 in CEL is not implemented yet"
            )
        );
        let whole = json!({
            "variables": [{"name": "a", "expression": "1"}],
            "validations": [{"expression": "dyn(variables) == null"}],
        });
        let whole = unsupported(validating, whole).unwrap();
        assert!(
            whole.contains("the variable variables as a whole"),
            "{whole}"
        );
        let mutating = json!({"mutations": [{"patchType": "JSONPatch", "jsonPatch": {
            "expression": "[JSONPatch{op: 'add', path: '/x', value: authorizer}]"}}]});
        assert!(unsupported(WebhookKind::Mutating, mutating).is_some());
    }

    #[test]
    fn depth_of_nested_variables_is_limited() {
        let variable = |index: usize| {
            let expression = match index {
                0 => "1".to_owned(),
                index => format!("variables.v{} + 1", index - 1),
            };
            json!({"name": format!("v{index}"), "expression": expression})
        };
        let policy = |count: usize| {
            let variables: Vec<Value> = (0..count).map(variable).collect();
            json!({"variables": variables, "validations": [{"expression": "true"}]})
        };
        assert_eq!(unsupported(WebhookKind::Validating, policy(20)), None);
        let deep = unsupported(WebhookKind::Validating, policy(2_000)).unwrap();
        assert!(deep.contains("build on one another that deep"), "{deep}");
    }
}
