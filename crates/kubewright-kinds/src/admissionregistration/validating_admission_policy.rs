//! ValidatingAdmissionPolicy: validates requests by CEL expressions.

use std::collections::BTreeSet;

use kubewright_core::WebhookKind;
use kubewright_core::format::qualified_name;
use serde_json::{Value, json};

use super::expressions::Expressions;
use super::policy::{
    PARAMETER_KIND, validate_compiled, validate_conditions_and_variables, validate_purpose,
};
use super::reserved_name::warn_reserved_name;
use super::unsupported_policy::unsupported_policy;
use crate::columns::{AGE, Cell, Column, NAME};
use crate::error_list::ErrorList;
use crate::field_path::FieldPath;
use crate::groups;
use crate::kind::{BuiltinKind, FinalizerRule, Generation, Permission, StatusStrategy, Validation};

/// Validates requests by CEL expressions.
pub static VALIDATING_ADMISSION_POLICY: BuiltinKind = BuiltinKind {
    finalizers: FinalizerRule::QualifiedName,
    unconditional_update: Permission::Denied,
    generation: Generation::Content,
    declared_columns: COLUMNS,
    status: StatusStrategy {
        validate: validate_status,
        ..StatusStrategy::RESETS_METADATA
    },
    validation: Validation::Rules(validate),
    warnings: warn_reserved_name,
    unsupported: |policy| unsupported_policy(WebhookKind::Validating, policy),
    ..BuiltinKind::new(
        groups::ADMISSION_REGISTRATION,
        "ValidatingAdmissionPolicy",
        "validatingadmissionpolicies",
    )
};

const MOST_ANNOTATIONS: usize = 20;

const LONGEST_ANNOTATION: usize = 5 * 1024;

const REASONS: [&str; 3] = ["Forbidden", "Invalid", "RequestEntityTooLarge"];

const COLUMNS: &[Column] = &[
    NAME,
    Column::integer("Validations", Cell::Count("/spec/validations")),
    PARAMETER_KIND,
    AGE,
];

/// `ValidateValidatingAdmissionPolicy`.
fn validate(object: &Value, _: Option<&Value>, errors: &mut ErrorList) {
    let spec = FieldPath::new(object, "spec");
    validate_purpose(spec, errors);
    let mut expressions = Expressions::new(WebhookKind::Validating, spec.value());
    validate_conditions_and_variables(spec, &mut expressions, errors);
    let validations = spec.field("validations");
    let annotations = spec.field("auditAnnotations");
    if validations.is_empty() && annotations.is_empty() {
        let detail = "validations or auditAnnotations must contain at least one item";
        errors.required(validations, detail);
        errors.required(annotations, detail);
        return;
    }
    for validation in validations.items() {
        validate_validation(validation, &expressions, errors);
    }
    if annotations.len() > MOST_ANNOTATIONS {
        let detail = format!("must not have more than {MOST_ANNOTATIONS} auditAnnotations");
        errors.invalid(annotations, &detail);
    }
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    let mut keys: BTreeSet<&str> = BTreeSet::new();
    for annotation in annotations.items() {
        validate_annotation(annotation, name, &expressions, errors);
        let key = annotation.text_of("key");
        if !keys.insert(key) {
            errors.duplicate_value(annotation.field("key"), &json!(key));
        }
    }
}

/// `validateValidation`.
fn validate_validation(
    validation: FieldPath<'_>,
    expressions: &Expressions,
    errors: &mut ErrorList,
) {
    let rule = validation.field("expression");
    match rule.text().trim() {
        "" => errors.required(rule, "expression is not specified"),
        _ => validate_compiled(
            rule,
            rule.text(),
            expressions.validation(rule.text()),
            errors,
        ),
    }
    let expression = validation.field("messageExpression");
    match (expression.text(), expression.text().trim()) {
        ("", _) => {}
        (_, "") => errors.invalid(expression, "must be non-empty if specified"),
        (text, _) => validate_compiled(expression, text, expressions.message(text), errors),
    }
    let message = validation.field("message");
    match (message.text(), message.text().trim()) {
        ("", _) => {}
        (_, "") => errors.invalid(message, "must be non-empty if specified"),
        (_, text) if text.contains(['\n', '\r']) => {
            errors.invalid(message, "must not contain line breaks");
        }
        _ => {}
    }
    let reason = validation.field("reason");
    if reason.is_set() && !REASONS.contains(&reason.text()) {
        errors.unsupported(reason, &REASONS);
    }
}

/// `validateAuditAnnotation`.
fn validate_annotation(
    annotation: FieldPath<'_>,
    policy: &str,
    expressions: &Expressions,
    errors: &mut ErrorList,
) {
    let key = annotation.field("key");
    let full = format!("{policy}/{}", key.text());
    for problem in qualified_name(&full) {
        errors.invalid_value(key, &json!(full), &problem);
    }
    let value = annotation.field("valueExpression");
    let text = value.text().trim();
    if text.is_empty() {
        errors.required(value, "valueExpression is not specified");
    } else if text.len() > LONGEST_ANNOTATION {
        let detail = format!("must not exceed {LONGEST_ANNOTATION} bytes in length");
        errors.required(value, &detail);
    } else {
        let result = expressions.audit_annotation(text);
        validate_compiled(value, value.text(), result, errors);
    }
}

/// `ValidateValidatingAdmissionPolicyStatusUpdate`, except for conditions and the syntax of paths.
fn validate_status(object: &Value, _: &Value, errors: &mut ErrorList) {
    let status = FieldPath::new(object, "status");
    let checking = status.field("typeChecking");
    for warning in checking.field("expressionWarnings").items() {
        let text = warning.field("warning");
        if text.text().is_empty() {
            errors.required(text, "");
        }
        let field = warning.field("fieldRef");
        if field.text().trim().is_empty() {
            errors.required(field, "");
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::VALIDATING_ADMISSION_POLICY;

    fn errors_with(change: impl Fn(&mut Value)) -> Vec<String> {
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
        VALIDATING_ADMISSION_POLICY.errors(&policy, None)
    }

    #[test]
    fn errors_have_the_path_of_the_invalid_field() {
        assert_eq!(errors_with(|_| {}), [""; 0]);
        let errors = |change: &dyn Fn(&mut Value)| errors_with(change).join("; ");
        assert_eq!(
            errors(&|spec| spec["failurePolicy"] = json!("Maybe")),
            "spec.failurePolicy: Unsupported value: \"Maybe\": supported values: \"Fail\", \
             \"Ignore\""
        );
        assert_eq!(
            errors(&|spec| spec["matchConstraints"]["resourceRules"] = json!([])),
            "spec.matchConstraints.resourceRules: Required value"
        );
        assert_eq!(
            errors(&|spec| spec["validations"] = json!([])),
            "spec.validations: Required value: validations or auditAnnotations must contain at \
             least one item; spec.auditAnnotations: Required value: validations or \
             auditAnnotations must contain at least one item"
        );
        assert_eq!(
            errors(
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
            errors(&|spec| spec["paramKind"] = json!({"apiVersion": "a/b/c", "kind": "x y"})),
            "spec.paramKind.apiVersion: Invalid value: \"a/b/c\": unexpected GroupVersion string: \
             a/b/c; spec.paramKind.kind: Invalid value: \"x y\": may have mixed case, but should \
             otherwise match: a DNS-1035 label must consist of lower case alphanumeric characters \
             or '-', start with an alphabetic character, and end with an alphanumeric character \
             (e.g. 'my-name',  or 'abc-123', regex used for validation is \
             '[a-z]([-a-z0-9]*[a-z0-9])?')"
        );
    }

    #[test]
    fn variables_are_typed_and_declared_for_what_follows() {
        let errors = |variables: Value, rule: &str| {
            errors_with(|spec| {
                spec["variables"] = variables.clone();
                spec["validations"] = json!([{"expression": rule}]);
            })
            .join("; ")
        };
        let two = json!([{"name": "a", "expression": "1"},
            {"name": "b", "expression": "variables.a + 1"}]);
        assert_eq!(errors(two.clone(), "variables.b == 2"), "");
        assert!(errors(two.clone(), "variables.c == 2").contains("undefined field 'c'"));
        assert!(errors(two, "variables.b == 'x'").contains("no matching overload"));
        let none = errors(json!([]), "variables.a == 1");
        assert!(
            none.contains("undeclared reference to 'variables'"),
            "{none}"
        );
        let wrong = errors(json!([{"name": "a b", "expression": " "}]), "true");
        assert_eq!(
            wrong,
            "spec.variables[0].name: Invalid value: \"a b\": must be a valid CEL identifier; \
             spec.variables[0].expression: Required value: expression is not specified"
        );
    }

    #[test]
    fn params_need_their_kind_and_messages_cannot_use_the_authorizer() {
        let rule = json!([{"expression": "params.a == 1"}]);
        let without = errors_with(|spec| spec["validations"] = rule.clone()).join("; ");
        assert!(
            without.contains("undeclared reference to 'params'"),
            "{without}"
        );
        let with = errors_with(|spec| {
            spec["paramKind"] = json!({"apiVersion": "v1", "kind": "ConfigMap"});
            spec["validations"] = rule.clone();
        });
        assert_eq!(with, [""; 0]);
        let messages = errors_with(|spec| {
            spec["validations"][0]["messageExpression"] = json!("authorizer == null ? '' : ''");
        });
        let joined = messages.join("; ");
        assert!(
            joined.contains("undeclared reference to 'authorizer'"),
            "{joined}"
        );
    }

    #[test]
    fn keys_of_audit_annotations_are_unique() {
        let errors = errors_with(|spec| {
            spec["auditAnnotations"] = json!([
                {"key": "a", "valueExpression": "'x'"}, {"key": "a", "valueExpression": "1"},
                {"key": "a b", "valueExpression": ""},
            ]);
        });
        assert_eq!(errors.len(), 4, "{errors:?}");
        assert_eq!(
            errors[0],
            "spec.auditAnnotations[1].valueExpression: Invalid value: \"1\": must evaluate to one \
             of [string null_type] but got int"
        );
        assert_eq!(
            errors[1],
            "spec.auditAnnotations[1].key: Duplicate value: \"a\""
        );
        assert!(errors[2].starts_with("spec.auditAnnotations[2].key: Invalid value: \"p/a b\""));
        assert_eq!(
            errors[3],
            "spec.auditAnnotations[2].valueExpression: Required value: valueExpression is not \
             specified"
        );
    }
}
