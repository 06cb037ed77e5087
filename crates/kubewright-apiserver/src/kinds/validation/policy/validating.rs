use std::collections::BTreeSet;

use kubewright_core::WebhookKind;
use serde_json::{Value, json};

use super::formats::qualified_name;
use super::shared::{compiled, conditions_and_variables, purpose};
use super::{At, Findings};
use crate::admission::policy::Expressions;

const MOST_ANNOTATIONS: usize = 20;
const LONGEST_ANNOTATION: usize = 5 * 1024;
const REASONS: [&str; 3] = ["Forbidden", "Invalid", "RequestEntityTooLarge"];

/// `ValidateValidatingAdmissionPolicy`.
pub(in crate::kinds::validation) fn validating_policy(
    object: &Value,
    _: Option<&Value>,
    findings: &mut Findings,
) {
    let spec = At::top(object, "spec");
    purpose(spec, findings);
    let mut expressions = Expressions::new(WebhookKind::Validating, spec.value());
    conditions_and_variables(spec, &mut expressions, findings);
    let validations = spec.field("validations");
    let annotations = spec.field("auditAnnotations");
    if validations.is_empty() && annotations.is_empty() {
        let detail = "validations or auditAnnotations must contain at least one item";
        findings.required(validations, detail);
        findings.required(annotations, detail);
        return;
    }
    for validation in validations.items() {
        check_validation(validation, &expressions, findings);
    }
    if annotations.len() > MOST_ANNOTATIONS {
        let detail = format!("must not have more than {MOST_ANNOTATIONS} auditAnnotations");
        findings.invalid(annotations, &detail);
    }
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    let mut keys: BTreeSet<&str> = BTreeSet::new();
    for annotation in annotations.items() {
        check_annotation(annotation, name, &expressions, findings);
        let key = annotation.text_of("key");
        if !keys.insert(key) {
            findings.duplicate_value(annotation.field("key"), &json!(key));
        }
    }
}

/// `validateValidation`.
fn check_validation(validation: At<'_>, expressions: &Expressions, findings: &mut Findings) {
    let rule = validation.field("expression");
    match rule.text().trim() {
        "" => findings.required(rule, "expression is not specified"),
        _ => compiled(
            rule,
            rule.text(),
            expressions.validation(rule.text()),
            findings,
        ),
    }
    let made = validation.field("messageExpression");
    match (made.text(), made.text().trim()) {
        ("", _) => {}
        (_, "") => findings.invalid(made, "must be non-empty if specified"),
        (text, _) => compiled(made, text, expressions.message(text), findings),
    }
    let message = validation.field("message");
    match (message.text(), message.text().trim()) {
        ("", _) => {}
        (_, "") => findings.invalid(message, "must be non-empty if specified"),
        (_, text) if text.contains(['\n', '\r']) => {
            findings.invalid(message, "must not contain line breaks");
        }
        _ => {}
    }
    let reason = validation.field("reason");
    if reason.is_set() && !REASONS.contains(&reason.text()) {
        findings.unsupported(reason, &REASONS);
    }
}

/// `validateAuditAnnotation`.
fn check_annotation(
    annotation: At<'_>,
    policy: &str,
    expressions: &Expressions,
    findings: &mut Findings,
) {
    let key = annotation.field("key");
    let full = format!("{policy}/{}", key.text());
    for problem in qualified_name(&full) {
        findings.invalid_value(key, &json!(full), &problem);
    }
    let value = annotation.field("valueExpression");
    let text = value.text().trim();
    if text.is_empty() {
        findings.required(value, "valueExpression is not specified");
    } else if text.len() > LONGEST_ANNOTATION {
        let detail = format!("must not exceed {LONGEST_ANNOTATION} bytes in length");
        findings.required(value, &detail);
    } else {
        let result = expressions.audit_annotation(text);
        compiled(value, value.text(), result, findings);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Findings, validating_policy};

    fn causes(change: impl Fn(&mut Value)) -> Vec<String> {
        let mut policy = json!({"metadata": {"name": "p"}, "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {
                "matchPolicy": "Equivalent", "namespaceSelector": {}, "objectSelector": {},
                "resourceRules": [{"operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"],
                    "resources": ["pods"]}],
            },
            "validations": [{"expression": "object.spec.replicas > 1"}],
        }});
        change(&mut policy["spec"]);
        let mut findings = Findings::default();
        validating_policy(&policy, None, &mut findings);
        let causes = findings.into_causes();
        causes.iter().map(|cause| cause.with_field()).collect()
    }

    #[test]
    fn each_broken_part_of_a_policy_is_named() {
        assert_eq!(causes(|_| {}), [""; 0]);
        let one = |change: &dyn Fn(&mut Value)| causes(change).join("; ");
        assert_eq!(
            one(&|spec| spec["failurePolicy"] = json!("Maybe")),
            "spec.failurePolicy: Unsupported value: \"Maybe\": supported values: \"Fail\", \
             \"Ignore\""
        );
        assert_eq!(
            one(&|spec| spec["matchConstraints"]["resourceRules"] = json!([])),
            "spec.matchConstraints.resourceRules: Required value"
        );
        assert_eq!(
            one(&|spec| spec["validations"] = json!([])),
            "spec.validations: Required value: validations or auditAnnotations must contain at \
             least one item; spec.auditAnnotations: Required value: validations or \
             auditAnnotations must contain at least one item"
        );
        assert_eq!(
            one(
                &|spec| spec["validations"][0] = json!({"expression": "1", "reason": "Gone",
                "message": "a\nb", "messageExpression": "2"})
            ),
            "spec.validations[0].expression: Invalid value: \"1\": must evaluate to bool but got \
             int; spec.validations[0].messageExpression: Invalid value: \"2\": must evaluate to \
             string but got int; spec.validations[0].message: Invalid value: \"a\\nb\": must not \
             contain line breaks; spec.validations[0].reason: Unsupported value: \"Gone\": \
             supported values: \"Forbidden\", \"Invalid\", \"RequestEntityTooLarge\""
        );
        assert_eq!(
            one(&|spec| spec["paramKind"] = json!({"apiVersion": "a/b/c", "kind": "x y"})),
            "spec.paramKind.apiVersion: Invalid value: \"a/b/c\": unexpected GroupVersion string: \
             a/b/c; spec.paramKind.kind: Invalid value: \"x y\": may have mixed case, but should \
             otherwise match: a DNS-1035 label must consist of lower case alphanumeric characters \
             or '-', start with an alphabetic character, and end with an alphanumeric character \
             (e.g. 'my-name',  or 'abc-123', regex used for validation is \
             '[a-z]([-a-z0-9]*[a-z0-9])?')"
        );
    }

    #[test]
    fn variables_are_known_to_what_follows_them_and_have_types() {
        let told = |variables: Value, rule: &str| {
            causes(|spec| {
                spec["variables"] = variables.clone();
                spec["validations"] = json!([{"expression": rule}]);
            })
            .join("; ")
        };
        let two = json!([{"name": "a", "expression": "1"},
            {"name": "b", "expression": "variables.a + 1"}]);
        assert_eq!(told(two.clone(), "variables.b == 2"), "");
        assert!(told(two.clone(), "variables.c == 2").contains("undefined field 'c'"));
        assert!(told(two, "variables.b == 'x'").contains("no matching overload"));
        let none = told(json!([]), "variables.a == 1");
        assert!(
            none.contains("undeclared reference to 'variables'"),
            "{none}"
        );
        let wrong = told(json!([{"name": "a b", "expression": " "}]), "true");
        assert_eq!(
            wrong,
            "spec.variables[0].name: Invalid value: \"a b\": must be a valid CEL identifier; \
             spec.variables[0].expression: Required value: expression is not specified"
        );
    }

    #[test]
    fn params_are_there_only_with_their_kind_and_no_message_asks_the_authorizer() {
        let rule = json!([{"expression": "params.a == 1"}]);
        let without = causes(|spec| spec["validations"] = rule.clone()).join("; ");
        assert!(
            without.contains("undeclared reference to 'params'"),
            "{without}"
        );
        let with = causes(|spec| {
            spec["paramKind"] = json!({"apiVersion": "v1", "kind": "ConfigMap"});
            spec["validations"] = rule.clone();
        });
        assert_eq!(with, [""; 0]);
        let asks = causes(|spec| {
            spec["validations"][0]["messageExpression"] = json!("authorizer == null ? '' : ''");
        });
        let asks = asks.join("; ");
        assert!(
            asks.contains("undeclared reference to 'authorizer'"),
            "{asks}"
        );
    }

    #[test]
    fn annotations_have_keys_of_their_own() {
        let told = causes(|spec| {
            spec["auditAnnotations"] = json!([
                {"key": "a", "valueExpression": "'x'"}, {"key": "a", "valueExpression": "1"},
                {"key": "a b", "valueExpression": ""},
            ]);
        });
        let told: Vec<&str> = told.iter().map(String::as_str).collect();
        assert_eq!(told.len(), 4, "{told:?}");
        assert_eq!(
            told[0],
            "spec.auditAnnotations[1].valueExpression: Invalid value: \"1\": must evaluate to one \
             of [string null_type] but got int"
        );
        assert_eq!(
            told[1],
            "spec.auditAnnotations[1].key: Duplicate value: \"a\""
        );
        assert!(told[2].starts_with("spec.auditAnnotations[2].key: Invalid value: \"p/a b\""));
        assert_eq!(
            told[3],
            "spec.auditAnnotations[2].valueExpression: Required value: valueExpression is not \
             specified"
        );
    }
}
