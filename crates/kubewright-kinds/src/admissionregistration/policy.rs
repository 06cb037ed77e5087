//! What validating and mutating policies have in common.

use kubewright_cel::{CompileError, is_identifier};
use kubewright_core::NameRule;
use serde_json::{Value, json};

use super::expressions::Expressions;
use super::match_conditions::condition_causes;
use super::match_resources::validate_match_resources;
use crate::columns::{Cell, Column, Row};
use crate::error_list::ErrorList;
use crate::field_path::FieldPath;

pub(super) const PARAMETER_KIND: Column = Column::text("ParamKind", Cell::Computed(parameter_kind));

fn parameter_kind(row: &Row<'_>) -> Value {
    match row.at("/spec/paramKind") {
        None => json!("<unset>"),
        Some(_) => json!(format!(
            "{}/{}",
            row.text("/spec/paramKind/apiVersion"),
            row.text("/spec/paramKind/kind")
        )),
    }
}

/// Validates the failure policy, the kind of parameters and the match constraints.
pub(super) fn validate_purpose(spec: FieldPath<'_>, errors: &mut ErrorList) {
    errors.one_of(spec.field("failurePolicy"), &["Fail", "Ignore"]);
    let params = spec.field("paramKind");
    if params.is_set() {
        validate_param_kind(params, errors);
    }
    let constraints = spec.field("matchConstraints");
    if !constraints.is_set() {
        errors.required(constraints, "");
        return;
    }
    validate_match_resources(constraints, errors);
    let rules = constraints.field("resourceRules");
    if rules.is_empty() {
        errors.required(rules, "");
    }
}

/// Validates the match conditions and the variables, and adds the variables to `expressions`.
pub(super) fn validate_conditions_and_variables(
    spec: FieldPath<'_>,
    expressions: &mut Expressions,
    errors: &mut ErrorList,
) {
    let conditions = spec.field("matchConditions");
    let environment = expressions.conditions();
    for cause in condition_causes(conditions.value(), &conditions.path(), environment) {
        errors.add(cause);
    }
    for variable in spec.field("variables").items() {
        validate_variable(variable, expressions, errors);
    }
}

/// `validateVariable`.
fn validate_variable(
    variable: FieldPath<'_>,
    expressions: &mut Expressions,
    errors: &mut ErrorList,
) {
    let name = variable.field("name");
    match name.text() {
        text if text.trim().is_empty() => errors.required(name, "name is not specified"),
        text if !is_identifier(text) => errors.invalid(name, "must be a valid CEL identifier"),
        _ => {}
    }
    let expression = variable.field("expression");
    if expression.text().trim().is_empty() {
        errors.required(expression, "expression is not specified");
        return;
    }
    let added = expressions.add_variable(name.text(), expression.text());
    validate_compiled(expression, expression.text(), added, errors);
}

/// Reports an invalid expression. One that is only unsupported is valid here.
pub(super) fn validate_compiled<T>(
    at: FieldPath<'_>,
    expression: &str,
    result: Result<T, CompileError>,
    errors: &mut ErrorList,
) {
    if let Err(CompileError::Invalid(why)) = result {
        errors.invalid_value(at, &json!(expression), &why);
    }
}

/// `validateParamKind`.
fn validate_param_kind(at: FieldPath<'_>, errors: &mut ErrorList) {
    let version = at.field("apiVersion");
    match version.text().split('/').collect::<Vec<_>>().as_slice() {
        [""] => errors.required(version, ""),
        [_] => validate_version(version, version.text(), errors),
        [group, name] => {
            if !group.is_empty() {
                let problems = NameRule::Subdomain.problems(group);
                report_problems(version, group, &problems, errors);
            }
            validate_version(version, name, errors);
        }
        _ => {
            let detail = format!("unexpected GroupVersion string: {}", version.text());
            errors.invalid(version, &detail);
        }
    }
    let kind = at.field("kind");
    if kind.text().is_empty() {
        errors.required(kind, "");
        return;
    }
    let problems = NameRule::Dns1035.problems(&kind.text().to_lowercase());
    if !problems.is_empty() {
        let detail = format!(
            "may have mixed case, but should otherwise match: {}",
            problems.join(",")
        );
        errors.invalid(kind, &detail);
    }
}

fn validate_version(at: FieldPath<'_>, version: &str, errors: &mut ErrorList) {
    if version.is_empty() {
        let problems = ["version must be specified".to_owned()];
        report_problems(at, at.text(), &problems, errors);
    } else {
        let problems = NameRule::Dns1035.problems(version);
        report_problems(at, version, &problems, errors);
    }
}

/// Reports all problems of a part of a field as one error.
fn report_problems(at: FieldPath<'_>, part: &str, problems: &[String], errors: &mut ErrorList) {
    if !problems.is_empty() {
        errors.invalid_value(at, &Value::from(part), &problems.join(","));
    }
}
