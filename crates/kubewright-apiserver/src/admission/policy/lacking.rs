use kubewright_core::{Kind, WebhookKind};
use kubewright_wire::status::Status;
use serde_json::Value;

use super::Expressions;
use super::compiled::{items, text};
use crate::admission::matching;
use crate::cel::Refusal;

/// Why a policy cannot be honoured here, when it cannot: a part of its expressions is not there.
/// Nothing for other kinds.
pub(crate) fn refusal(kind: &Kind, value: &Value) -> Result<(), Status> {
    let of = match (kind.group(), kind.kind.as_str()) {
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy") => WebhookKind::Validating,
        ("admissionregistration.k8s.io", "MutatingAdmissionPolicy") => WebhookKind::Mutating,
        _ => return Ok(()),
    };
    match lacking(of, &value["spec"]) {
        None => Ok(()),
        Some((field, what)) => Err(Status::not_implemented(format!(
            "{field} of {} {}: {what}",
            kind.kind, value["metadata"]["name"]
        ))),
    }
}

/// The first field whose expression needs what is not there, and what that is.
fn lacking(kind: WebhookKind, spec: &Value) -> Option<(String, String)> {
    let mut expressions = Expressions::new(kind, spec);
    if let Some(what) = matching::lacking(&spec["matchConditions"], expressions.conditions()) {
        return Some(("spec.matchConditions".to_owned(), what));
    }
    for (place, variable) in items(spec, "variables").enumerate() {
        let (name, expression) = (text(variable, "name"), text(variable, "expression"));
        let added = expressions.add_variable(name, expression);
        if let Some(what) = named(added) {
            return Some((format!("spec.variables[{place}]"), what));
        }
    }
    for (place, validation) in items(spec, "validations").enumerate() {
        let rule = expressions.validation(text(validation, "expression"));
        let message = expressions.message(text(validation, "messageExpression"));
        if let Some(what) = named(rule).or_else(|| named(message)) {
            return Some((format!("spec.validations[{place}]"), what));
        }
    }
    for (place, annotation) in items(spec, "auditAnnotations").enumerate() {
        let value = text(annotation, "valueExpression");
        if let Some(what) = named(expressions.audit_annotation(value)) {
            return Some((format!("spec.auditAnnotations[{place}]"), what));
        }
    }
    for (place, mutation) in items(spec, "mutations").enumerate() {
        let patch = expressions.json_patch(text(&mutation["jsonPatch"], "expression"));
        let configuration = text(&mutation["applyConfiguration"], "expression");
        let configuration = expressions.apply_configuration(configuration);
        if let Some(what) = named(patch).or_else(|| named(configuration)) {
            return Some((format!("spec.mutations[{place}]"), what));
        }
    }
    None
}

fn named<T>(compiled: Result<T, Refusal>) -> Option<String> {
    match compiled {
        Err(refusal @ Refusal::Lacking(_)) => Some(refusal.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use kubewright_core::Kind;
    use serde_json::{Value, json};

    use super::refusal;

    fn refused(kind: &str, spec: Value) -> Option<String> {
        let kind = Kind::new("admissionregistration.k8s.io", "v1", kind);
        let value = json!({"metadata": {"name": "p"}, "spec": spec});
        refusal(&kind, &value).err().map(|status| {
            assert_eq!(status.code, 501);
            status.message
        })
    }

    #[test]
    fn what_a_policy_needs_and_is_not_here_is_named_with_its_field() {
        let validating = "ValidatingAdmissionPolicy";
        let fine = json!({"validations": [{"expression": "object.a == 1"}]});
        assert_eq!(refused(validating, fine), None);
        let wrong = json!({"validations": [{"expression": "nothing"}]});
        assert_eq!(refused(validating, wrong), None);
        let asks = json!({
            "validations": [{"expression": "true"},
                {"expression": "authorizer.path('/').check('get').allowed()"}],
        });
        assert_eq!(
            refused(validating, asks).as_deref(),
            Some(
                "spec.validations[1] of ValidatingAdmissionPolicy \"p\": the variable authorizer \
                 in CEL is not implemented yet"
            )
        );
        let whole = json!({
            "variables": [{"name": "a", "expression": "1"}],
            "validations": [{"expression": "dyn(variables) == null"}],
        });
        let whole = refused(validating, whole).unwrap();
        assert!(
            whole.contains("the variable variables as a whole"),
            "{whole}"
        );
        let mutating = json!({"mutations": [{"patchType": "JSONPatch", "jsonPatch": {
            "expression": "[JSONPatch{op: 'add', path: '/x', value: authorizer}]"}}]});
        assert!(refused("MutatingAdmissionPolicy", mutating).is_some());
    }

    #[test]
    fn variables_nest_only_so_deep() {
        let variable = |place: usize| {
            let expression = match place {
                0 => "1".to_owned(),
                place => format!("variables.v{} + 1", place - 1),
            };
            json!({"name": format!("v{place}"), "expression": expression})
        };
        let policy = |count: usize| {
            let variables: Vec<Value> = (0..count).map(variable).collect();
            json!({"variables": variables, "validations": [{"expression": "true"}]})
        };
        assert_eq!(refused("ValidatingAdmissionPolicy", policy(20)), None);
        let deep = refused("ValidatingAdmissionPolicy", policy(2_000)).unwrap();
        assert!(deep.contains("build on one another that deep"), "{deep}");
    }
}
