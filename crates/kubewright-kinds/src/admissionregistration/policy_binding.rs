//! What the bindings of both kinds of policies have in common.

use kubewright_core::NameRule;
use serde_json::{Value, json};

use super::match_resources::validate_match_resources;
use crate::columns::{AGE, Cell, Column, NAME, Row};
use crate::error_list::ErrorList;
use crate::field_path::FieldPath;
use crate::label_selector::{SelectorValues, validate_label_selector};

pub(super) const COLUMNS: &[Column] = &[
    NAME,
    Column::text("PolicyName", Cell::Text("/spec/policyName")),
    Column::text("ParamRef", Cell::Computed(parameter)),
    AGE,
];

fn parameter(row: &Row<'_>) -> Value {
    let namespace = row.text_or("/spec/paramRef/namespace", "*");
    match row.text("/spec/paramRef/name") {
        "" => json!("<unset>"),
        name => json!(format!("{namespace}/{name}")),
    }
}

const EXCLUSIVE: &str = "name and selector are mutually exclusive";

pub(super) fn validate_policy_binding(spec: FieldPath<'_>, errors: &mut ErrorList) {
    let policy = spec.field("policyName");
    match policy.text() {
        "" => errors.required(policy, ""),
        name => errors.problems(policy, NameRule::Subdomain.problems(name)),
    }
    let params = spec.field("paramRef");
    if params.is_set() {
        validate_params(params, errors);
    }
    validate_match_resources(spec.field("matchResources"), errors);
}

/// `validateParamRef`.
fn validate_params(params: FieldPath<'_>, errors: &mut ErrorList) {
    let (name, selector) = (params.field("name"), params.field("selector"));
    let has_name = !name.text().is_empty();
    if has_name {
        errors.problems(name, NameRule::PathSegment.problems(name.text()));
        if selector.is_set() {
            errors.forbidden(name, EXCLUSIVE);
        }
    }
    if selector.is_set() {
        validate_label_selector(selector, SelectorValues::Checked, errors);
        if has_name {
            errors.forbidden(selector, EXCLUSIVE);
        }
    }
    if !has_name && !selector.is_set() {
        errors.required(params, "one of name or selector must be specified");
    }
    errors.one_of(params.field("parameterNotFoundAction"), &["Deny", "Allow"]);
}
