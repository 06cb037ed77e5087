//! What validating and mutating webhook configurations have in common.

use std::collections::BTreeSet;

use kubewright_cel::webhook_environment;
use kubewright_core::{NameRule, WebhookKind};
use kubewright_wire::status::Cause;
use serde_json::{Value, json};

use super::client_config::client_causes;
use super::match_conditions::{condition_causes, unsupported_condition};
use super::rules::{check_rule, one_of};
use crate::columns::{AGE, Cell, Column, NAME};
use crate::error_list::ErrorList;
use crate::json::{items, text};

pub(super) const COLUMNS: &[Column] = &[
    NAME,
    Column::integer("Webhooks", Cell::Count("/webhooks")),
    AGE,
];

const VERSIONS: [&str; 2] = ["v1", "v1beta1"];

/// Validates a webhook configuration
/// (k8s.io/kubernetes/pkg/apis/admissionregistration/validation).
pub(super) fn validate_webhooks(kind: WebhookKind, object: &Value, errors: &mut ErrorList) {
    let mut causes = Vec::new();
    let mut names: BTreeSet<&str> = BTreeSet::new();
    for (index, webhook) in items(&object["webhooks"]).enumerate() {
        let path = format!("webhooks[{index}]");
        check_webhook(kind, webhook, &path, &mut causes);
        let name = text(&webhook["name"]);
        if !names.insert(name) && !name.is_empty() {
            causes.push(Cause::duplicate(&format!("{path}.name"), &json!(name)));
        }
    }
    causes.into_iter().for_each(|cause| errors.add(cause));
}

/// The first match condition that uses a feature of CEL which is not implemented.
pub(super) fn unsupported_webhooks(object: &Value) -> Option<String> {
    items(&object["webhooks"]).find_map(|webhook| {
        let what = unsupported_condition(&webhook["matchConditions"], webhook_environment())?;
        let name = &webhook["name"];
        Some(format!("matchConditions of webhook {name}: {what}"))
    })
}

fn check_webhook(kind: WebhookKind, webhook: &Value, path: &str, causes: &mut Vec<Cause>) {
    let at = |field: &str| format!("{path}.{field}");
    check_name(&webhook["name"], &at("name"), causes);
    for (index, rule) in items(&webhook["rules"]).enumerate() {
        check_rule(rule, &format!("{path}.rules[{index}]"), causes);
    }
    one_of(webhook, path, "failurePolicy", &["Fail", "Ignore"], causes);
    one_of(
        webhook,
        path,
        "matchPolicy",
        &["Equivalent", "Exact"],
        causes,
    );
    if webhook["sideEffects"].is_null() {
        let detail = "must specify one of None, NoneOnDryRun";
        causes.push(Cause::required(&at("sideEffects"), detail));
    }
    one_of(
        webhook,
        path,
        "sideEffects",
        &["None", "NoneOnDryRun"],
        causes,
    );
    let timeout = webhook["timeoutSeconds"].as_i64();
    if timeout.is_some_and(|seconds| !(1..=30).contains(&seconds)) {
        let detail = "the timeout value must be between 1 and 30 seconds";
        let value = &webhook["timeoutSeconds"];
        causes.push(Cause::invalid(&at("timeoutSeconds"), value, detail));
    }
    for field in ["namespaceSelector", "objectSelector"] {
        check_selector(&webhook[field], &at(field), causes);
    }
    if kind == WebhookKind::Mutating {
        one_of(
            webhook,
            path,
            "reinvocationPolicy",
            &["IfNeeded", "Never"],
            causes,
        );
    }
    causes.extend(client_causes(&webhook["clientConfig"], &at("clientConfig")));
    causes.extend(condition_causes(
        &webhook["matchConditions"],
        &at("matchConditions"),
        webhook_environment(),
    ));
    check_versions(webhook, &at("admissionReviewVersions"), causes);
}

/// `IsFullyQualifiedName` of k8s.io/apimachinery.
fn check_name(name: &Value, path: &str, causes: &mut Vec<Cause>) {
    let domain = text(name);
    if domain.is_empty() {
        causes.push(Cause::required(path, ""));
        return;
    }
    let problems = NameRule::Subdomain.problems(domain);
    if !problems.is_empty() {
        causes.push(Cause::invalid(path, name, &problems.join(",")));
    } else if domain.split('.').count() < 3 {
        let detail = "should be a domain with at least three segments separated by dots";
        causes.push(Cause::invalid(path, name, detail));
    }
}

fn check_versions(webhook: &Value, path: &str, causes: &mut Vec<Cause>) {
    let versions = &webhook["admissionReviewVersions"];
    if items(versions).next().is_none() {
        causes.push(Cause::required(path, "must specify one of v1, v1beta1"));
        return;
    }
    let mut seen = BTreeSet::new();
    for (index, version) in items(versions).enumerate() {
        if !seen.insert(version.to_string()) {
            let field = format!("{path}[{index}]");
            causes.push(Cause::invalid(&field, version, "duplicate version"));
        }
    }
    if !items(versions).any(|version| VERSIONS.contains(&text(version))) {
        let detail = "must include at least one of v1, v1beta1";
        causes.push(Cause::invalid(path, versions, detail));
    }
}

/// Adds the errors of a label selector, except for those of its keys and values.
pub fn check_selector(selector: &Value, path: &str, causes: &mut Vec<Cause>) {
    for (index, expression) in items(&selector["matchExpressions"]).enumerate() {
        let at = |field: &str| format!("{path}.matchExpressions[{index}].{field}");
        let has_values = items(&expression["values"]).next().is_some();
        match text(&expression["operator"]) {
            "In" | "NotIn" if !has_values => {
                let detail = "must be specified when `operator` is 'In' or 'NotIn'";
                causes.push(Cause::required(&at("values"), detail));
            }
            "Exists" | "DoesNotExist" if has_values => {
                let detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
                causes.push(Cause::forbidden(&at("values"), detail));
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            other => {
                let detail = "not a valid selector operator";
                causes.push(Cause::invalid(&at("operator"), &json!(other), detail));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use kubewright_core::WebhookKind;
    use serde_json::{Value, json};

    use super::{ErrorList, unsupported_webhooks, validate_webhooks};

    fn errors_with(change: impl Fn(&mut Value)) -> Vec<String> {
        let mut webhook = json!({
            "name": "a.b.c", "sideEffects": "None", "admissionReviewVersions": ["v1"],
            "clientConfig": {"url": "https://127.0.0.1:9443/x"},
            "rules": [{"operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}],
        });
        change(&mut webhook);
        let mut errors = ErrorList::default();
        let configuration = json!({"webhooks": [webhook]});
        validate_webhooks(WebhookKind::Validating, &configuration, &mut errors);
        errors.into_messages()
    }

    #[test]
    fn errors_have_the_path_of_the_invalid_field() {
        assert!(errors_with(|_| {}).is_empty());
        let errors = |change: &dyn Fn(&mut Value)| errors_with(change).join("; ");
        assert_eq!(
            errors(&|w| w["name"] = json!("a.b")),
            "webhooks[0].name: Invalid value: \"a.b\": should be a domain with at least three \
             segments separated by dots"
        );
        assert_eq!(
            errors(&|w| w["sideEffects"] = json!("Some")),
            "webhooks[0].sideEffects: Unsupported value: \"Some\": supported values: \"None\", \
             \"NoneOnDryRun\""
        );
        assert_eq!(
            errors(&|w| w["clientConfig"] = json!({})),
            "webhooks[0].clientConfig: Required value: exactly one of url or service is required"
        );
        assert_eq!(
            errors(&|w| w["clientConfig"] = json!({"url": "http://x"})),
            "webhooks[0].clientConfig.url: Invalid value: \"http\": 'https' is the only allowed \
             URL scheme; desired format: https://host[/path]"
        );
        assert_eq!(
            errors(&|w| w["rules"][0]["resources"] = json!(["*", "pods"])),
            "webhooks[0].rules[0].resources: Invalid value: [\"*\",\"pods\"]: if '*' is present, \
             must not specify other resources without subresources"
        );
    }

    #[test]
    fn conditions_that_use_unsupported_features_are_reported() {
        let with = |expression: &str| {
            json!({"webhooks": [{"name": "a.b.c",
                "matchConditions": [{"name": "x", "expression": expression}]}]})
        };
        assert_eq!(unsupported_webhooks(&with("object.a == 1")), None);
        let value = with("authorizer.path('/').check('get').allowed()");
        let why = unsupported_webhooks(&value).unwrap();
        assert!(why.contains("the variable authorizer"), "{why}");
    }
}
