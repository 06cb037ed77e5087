use serde_json::{Value, json};

use super::matching::match_resources;
use super::{At, Findings};
use crate::admission::matching::condition_causes;
use crate::admission::policy::Expressions;
use crate::cel::{Refusal, is_identifier};
use crate::kinds::NameRule;

/// What both kinds of policies have, up to what they match.
pub(super) fn purpose(spec: At<'_>, findings: &mut Findings) {
    findings.one_of(spec.field("failurePolicy"), &["Fail", "Ignore"]);
    let params = spec.field("paramKind");
    if params.is_set() {
        param_kind(params, findings);
    }
    let constraints = spec.field("matchConstraints");
    if !constraints.is_set() {
        findings.required(constraints, "");
        return;
    }
    match_resources(constraints, findings);
    let rules = constraints.field("resourceRules");
    if rules.is_empty() {
        findings.required(rules, "");
    }
}

/// The conditions and variables of both.
pub(super) fn conditions_and_variables(
    spec: At<'_>,
    expressions: &mut Expressions,
    findings: &mut Findings,
) {
    let conditions = spec.field("matchConditions");
    let environment = expressions.conditions();
    for cause in condition_causes(conditions.value(), &conditions.path(), environment) {
        findings.add(cause);
    }
    for variable in spec.field("variables").items() {
        check_variable(variable, expressions, findings);
    }
}

/// `validateVariable`.
fn check_variable(variable: At<'_>, expressions: &mut Expressions, findings: &mut Findings) {
    let name = variable.field("name");
    match name.text() {
        text if text.trim().is_empty() => findings.required(name, "name is not specified"),
        text if !is_identifier(text) => findings.invalid(name, "must be a valid CEL identifier"),
        _ => {}
    }
    let expression = variable.field("expression");
    if expression.text().trim().is_empty() {
        findings.required(expression, "expression is not specified");
        return;
    }
    let added = expressions.add_variable(name.text(), expression.text());
    compiled(expression, expression.text(), added, findings);
}

/// What is wrong with an expression. What is lacking is no fault of it, and told elsewhere.
pub(super) fn compiled<T>(
    at: At<'_>,
    expression: &str,
    result: Result<T, Refusal>,
    findings: &mut Findings,
) {
    if let Err(Refusal::Wrong(why)) = result {
        findings.invalid_value(at, &json!(expression), &why);
    }
}

/// `validateParamKind`.
fn param_kind(at: At<'_>, findings: &mut Findings) {
    let version = at.field("apiVersion");
    match version.text().split('/').collect::<Vec<_>>().as_slice() {
        [""] => findings.required(version, ""),
        [text] => group_version(version, ("", text), findings),
        [group, text] => group_version(version, (group, text), findings),
        _ => {
            let detail = format!("unexpected GroupVersion string: {}", version.text());
            findings.invalid(version, &detail);
        }
    }
    let kind = at.field("kind");
    if kind.text().is_empty() {
        findings.required(kind, "");
        return;
    }
    let problems = NameRule::Dns1035.problems(&kind.text().to_lowercase());
    if !problems.is_empty() {
        let detail = format!(
            "may have mixed case, but should otherwise match: {}",
            problems.join(",")
        );
        findings.invalid(kind, &detail);
    }
}

fn group_version(at: At<'_>, (group, version): (&str, &str), findings: &mut Findings) {
    let mut check = |text: &str, problems: Vec<String>| {
        if !problems.is_empty() {
            findings.invalid_value(at, &Value::from(text), &problems.join(","));
        }
    };
    if !group.is_empty() {
        check(group, NameRule::Subdomain.problems(group));
    }
    match version {
        "" => check(at.text(), vec!["version must be specified".to_owned()]),
        version => check(version, NameRule::Dns1035.problems(version)),
    }
}
