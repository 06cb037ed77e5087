use http::Uri;
use kubewright_core::Kind;
use kubewright_wire::status::{Cause, Status};
use serde_json::{Value, json};

use crate::kinds::NameRule;

const GROUP: &str = "admissionregistration.k8s.io";
const VERSIONS: [&str; 2] = ["v1", "v1beta1"];
const FORM: &str = "; desired format: https://host[/path]";

/// What is wrong with a webhook configuration
/// (`k8s.io/kubernetes/pkg/apis/admissionregistration/validation`); nothing for other kinds.
pub(crate) fn configuration_causes(kind: &Kind, value: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    if !is_configuration(kind) {
        return causes;
    }
    let mut names: Vec<&str> = Vec::new();
    let webhooks = value["webhooks"].as_array().into_iter().flatten();
    for (place, webhook) in webhooks.enumerate() {
        let path = format!("webhooks[{place}]");
        check_webhook(kind, webhook, &path, &mut causes);
        let name = webhook["name"].as_str().unwrap_or_default();
        match names.contains(&name) && !name.is_empty() {
            true => causes.push(Cause::duplicate(&format!("{path}.name"), &json!(name))),
            false => names.push(name),
        }
    }
    causes
}

/// Why a webhook configuration cannot be honoured here, when it cannot.
pub(crate) fn configuration_refusal(kind: &Kind, value: &Value) -> Result<(), Status> {
    if !is_configuration(kind) {
        return Ok(());
    }
    let mut webhooks = value["webhooks"].as_array().into_iter().flatten();
    let conditional = webhooks.find(|webhook| {
        let conditions = webhook["matchConditions"].as_array();
        conditions.is_some_and(|conditions| !conditions.is_empty())
    });
    match conditional {
        None => Ok(()),
        Some(webhook) => Err(Status::not_implemented(format!(
            "matchConditions of webhook {} are not implemented yet: they need CEL; use \
             objectSelector and namespaceSelector",
            webhook["name"]
        ))),
    }
}

fn is_configuration(kind: &Kind) -> bool {
    kind.group() == GROUP && kind.kind.ends_with("WebhookConfiguration")
}

fn check_webhook(kind: &Kind, webhook: &Value, path: &str, causes: &mut Vec<Cause>) {
    let at = |field: &str| format!("{path}.{field}");
    check_name(&webhook["name"], &at("name"), causes);
    let rules = webhook["rules"].as_array().into_iter().flatten();
    for (place, rule) in rules.enumerate() {
        check_rule(rule, &format!("{path}.rules[{place}]"), causes);
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
    if kind.kind.starts_with("Mutating") {
        one_of(
            webhook,
            path,
            "reinvocationPolicy",
            &["IfNeeded", "Never"],
            causes,
        );
    }
    check_client(&webhook["clientConfig"], &at("clientConfig"), causes);
    check_versions(webhook, &at("admissionReviewVersions"), causes);
}

/// `IsFullyQualifiedName` of k8s.io/apimachinery.
fn check_name(name: &Value, path: &str, causes: &mut Vec<Cause>) {
    let text = name.as_str().unwrap_or_default();
    if text.is_empty() {
        causes.push(Cause::required(path, ""));
        return;
    }
    let problems = NameRule::Subdomain.problems(text);
    if !problems.is_empty() {
        causes.push(Cause::invalid(path, name, &problems.join(",")));
    } else if text.split('.').count() < 3 {
        let detail = "should be a domain with at least three segments separated by dots";
        causes.push(Cause::invalid(path, name, detail));
    }
}

fn check_rule(rule: &Value, path: &str, causes: &mut Vec<Cause>) {
    const OPERATIONS: [&str; 5] = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
    let list = |field: &str| rule[field].as_array().cloned().unwrap_or_default();
    let at = |field: &str| format!("{path}.{field}");
    let mut wildcard = |field: &str, others: &str| {
        let items = list(field);
        if items.is_empty() {
            causes.push(Cause::required(&at(field), ""));
        } else if items.len() > 1 && items.contains(&json!("*")) {
            let detail = format!("if '*' is present, must not specify other {others}");
            causes.push(Cause::invalid(&at(field), &rule[field], &detail));
        }
    };
    wildcard("operations", "operations");
    wildcard("apiGroups", "API groups");
    wildcard("apiVersions", "API versions");
    for (place, operation) in list("operations").iter().enumerate() {
        if !OPERATIONS.iter().any(|one| operation == one) {
            let field = format!("{path}.operations[{place}]");
            causes.push(Cause::not_supported(&field, operation, &OPERATIONS));
        }
    }
    for (place, version) in list("apiVersions").iter().enumerate() {
        if version == "" {
            let field = format!("{path}.apiVersions[{place}]");
            causes.push(Cause::required(&field, ""));
        }
    }
    check_resources(&rule["resources"], &at("resources"), causes);
    one_of(rule, path, "scope", &["*", "Cluster", "Namespaced"], causes);
}

fn check_resources(resources: &Value, path: &str, causes: &mut Vec<Cause>) {
    let items: Vec<&str> = resources
        .as_array()
        .into_iter()
        .flatten()
        .map(|item| item.as_str().unwrap_or_default())
        .collect();
    if items.is_empty() {
        causes.push(Cause::required(path, ""));
    }
    let (mut whole, mut parts) = (Vec::new(), Vec::new());
    for (place, item) in items.iter().enumerate() {
        let field = format!("{path}[{place}]");
        if item.is_empty() {
            causes.push(Cause::required(&field, ""));
        }
        let Some((resource, part)) = item.split_once('/') else {
            continue;
        };
        if whole.contains(&resource) {
            let detail = format!("if '{resource}/*' is present, must not specify {item}");
            causes.push(Cause::invalid(&field, &json!(item), &detail));
        }
        if parts.contains(&part) {
            let detail = format!("if '*/{part}' is present, must not specify {item}");
            causes.push(Cause::invalid(&field, &json!(item), &detail));
        }
        if part == "*" {
            whole.push(resource);
        }
        if resource == "*" {
            parts.push(part);
        }
    }
    if items.len() > 1 && items.contains(&"*/*") {
        let detail = "if '*/*' is present, must not specify other resources";
        causes.push(Cause::invalid(path, resources, detail));
    }
    // As in Kubernetes, the last one without a part decides.
    let last = items.iter().rev().find(|item| !item.contains('/'));
    if items.contains(&"*") && last.is_some_and(|item| *item != "*") {
        let detail = "if '*' is present, must not specify other resources without subresources";
        causes.push(Cause::invalid(path, resources, detail));
    }
}

fn check_selector(selector: &Value, path: &str, causes: &mut Vec<Cause>) {
    let expressions = selector["matchExpressions"]
        .as_array()
        .into_iter()
        .flatten();
    for (place, expression) in expressions.enumerate() {
        let at = |field: &str| format!("{path}.matchExpressions[{place}].{field}");
        let has_values = expression["values"]
            .as_array()
            .is_some_and(|values| !values.is_empty());
        match expression["operator"].as_str().unwrap_or_default() {
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

/// What is wrong with the way to a webhook.
pub(crate) fn client_causes(client: &Value, path: &str) -> Vec<Cause> {
    let mut causes = Vec::new();
    check_client(client, path, &mut causes);
    causes
}

fn check_client(client: &Value, path: &str, causes: &mut Vec<Cause>) {
    match (client["url"].as_str(), client["service"].is_object()) {
        (Some(url), false) => check_url(url, &format!("{path}.url"), causes),
        (None, true) => check_service(&client["service"], &format!("{path}.service"), causes),
        _ => {
            let detail = "exactly one of url or service is required";
            causes.push(Cause::required(path, detail));
        }
    }
}

fn check_url(url: &str, path: &str, causes: &mut Vec<Cause>) {
    let scheme = url.split_once("://").map_or("", |(scheme, _)| scheme);
    if scheme != "https" {
        let detail = format!("'https' is the only allowed URL scheme{FORM}");
        causes.push(Cause::invalid(path, &json!(scheme), &detail));
    }
    let uri: Option<Uri> = url.parse().ok();
    if uri.as_ref().and_then(Uri::host).is_none_or(str::is_empty) {
        let detail = format!("host must be specified{FORM}");
        causes.push(Cause::invalid(path, &json!(""), &detail));
    }
    if let Some((_, fragment)) = url.split_once('#') {
        let detail = "fragments are not permitted in the URL";
        causes.push(Cause::invalid(path, &json!(fragment), detail));
    }
    if let Some(query) = uri.as_ref().and_then(Uri::query) {
        let detail = "query parameters are not permitted in the URL";
        causes.push(Cause::invalid(path, &json!(query), detail));
    }
}

fn check_service(service: &Value, path: &str, causes: &mut Vec<Cause>) {
    for field in ["name", "namespace"] {
        if service[field].as_str().unwrap_or_default().is_empty() {
            causes.push(Cause::required(&format!("{path}.{field}"), ""));
        }
    }
    let port = service["port"].as_i64();
    if port.is_some_and(|port| !(1..=65_535).contains(&port)) {
        let detail = "port is not valid: must be between 1 and 65535, inclusive";
        causes.push(Cause::invalid(
            &format!("{path}.port"),
            &service["port"],
            detail,
        ));
    }
    let url_path = service["path"].as_str().unwrap_or_default();
    if !url_path.is_empty() && !url_path.starts_with('/') {
        let detail = "must start with a '/'";
        causes.push(Cause::invalid(
            &format!("{path}.path"),
            &json!(url_path),
            detail,
        ));
    }
}

fn check_versions(webhook: &Value, path: &str, causes: &mut Vec<Cause>) {
    let versions = &webhook["admissionReviewVersions"];
    let items = versions.as_array().cloned().unwrap_or_default();
    if items.is_empty() {
        causes.push(Cause::required(path, "must specify one of v1, v1beta1"));
        return;
    }
    for (place, version) in items.iter().enumerate() {
        if items.iter().take(place).any(|one| one == version) {
            let field = format!("{path}[{place}]");
            causes.push(Cause::invalid(&field, version, "duplicate version"));
        }
    }
    let known = |version: &Value| VERSIONS.iter().any(|one| version == one);
    if !items.iter().any(known) {
        let detail = "must include at least one of v1, v1beta1";
        causes.push(Cause::invalid(path, versions, detail));
    }
}

fn one_of(value: &Value, path: &str, field: &str, allowed: &[&str], causes: &mut Vec<Cause>) {
    let value = &value[field];
    if !value.is_null() && !allowed.iter().any(|one| value == one) {
        let field = format!("{path}.{field}");
        causes.push(Cause::not_supported(&field, value, allowed));
    }
}

#[cfg(test)]
mod tests {
    use kubewright_core::Kind;
    use serde_json::{Value, json};

    use super::{configuration_causes, configuration_refusal};

    fn kind() -> Kind {
        Kind::new(
            "admissionregistration.k8s.io",
            "v1",
            "ValidatingWebhookConfiguration",
        )
    }

    fn with(change: impl Fn(&mut Value)) -> Vec<String> {
        let mut webhook = json!({
            "name": "a.b.c", "sideEffects": "None", "admissionReviewVersions": ["v1"],
            "clientConfig": {"url": "https://127.0.0.1:9443/x"},
            "rules": [{"operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}],
        });
        change(&mut webhook);
        let causes = configuration_causes(&kind(), &json!({"webhooks": [webhook]}));
        causes.iter().map(|cause| cause.with_field()).collect()
    }

    #[test]
    fn each_broken_part_is_named() {
        assert_eq!(with(|_| {}), Vec::<String>::new());
        let one = |change: &dyn Fn(&mut Value)| with(change).join("; ");
        assert_eq!(
            one(&|w| w["name"] = json!("a.b")),
            "webhooks[0].name: Invalid value: \"a.b\": should be a domain with at least three \
             segments separated by dots"
        );
        assert_eq!(
            one(&|w| w["sideEffects"] = json!("Some")),
            "webhooks[0].sideEffects: Unsupported value: \"Some\": supported values: \"None\", \
             \"NoneOnDryRun\""
        );
        assert_eq!(
            one(&|w| w["clientConfig"] = json!({})),
            "webhooks[0].clientConfig: Required value: exactly one of url or service is required"
        );
        assert_eq!(
            one(&|w| w["clientConfig"] = json!({"url": "http://x"})),
            "webhooks[0].clientConfig.url: Invalid value: \"http\": 'https' is the only allowed \
             URL scheme; desired format: https://host[/path]"
        );
        assert_eq!(
            one(&|w| w["rules"][0]["resources"] = json!(["*", "pods"])),
            "webhooks[0].rules[0].resources: Invalid value: [\"*\",\"pods\"]: if '*' is present, \
             must not specify other resources without subresources"
        );
    }

    #[test]
    fn conditions_are_refused_until_they_can_be_evaluated() {
        let value = json!({"webhooks": [{"name": "a.b.c", "matchConditions": [{"name": "x"}]}]});
        let status = configuration_refusal(&kind(), &value).unwrap_err();
        assert_eq!(status.code, 501);
        assert!(status.message.contains("CEL"), "{status}");
    }
}
