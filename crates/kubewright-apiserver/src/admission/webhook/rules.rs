use std::collections::BTreeSet;

use http::Uri;
use kubewright_core::Kind;
use kubewright_wire::status::{Cause, Status};
use serde_json::{Value, json};

use crate::admission::matching::{check_rule, check_selector, condition_causes, lacking, one_of};
use crate::cel::webhook_environment;
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
    let mut names: BTreeSet<&str> = BTreeSet::new();
    let webhooks = value["webhooks"].as_array().into_iter().flatten();
    for (place, webhook) in webhooks.enumerate() {
        let path = format!("webhooks[{place}]");
        check_webhook(kind, webhook, &path, &mut causes);
        let name = webhook["name"].as_str().unwrap_or_default();
        if !names.insert(name) && !name.is_empty() {
            causes.push(Cause::duplicate(&format!("{path}.name"), &json!(name)));
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
    let refused = webhooks.find_map(|webhook| {
        let what = lacking(&webhook["matchConditions"], webhook_environment())?;
        Some((&webhook["name"], what))
    });
    match refused {
        None => Ok(()),
        Some((name, what)) => Err(Status::not_implemented(format!(
            "matchConditions of webhook {name}: {what}"
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
    let conditions = &webhook["matchConditions"];
    let path_of_conditions = at("matchConditions");
    let environment = webhook_environment();
    causes.extend(condition_causes(
        conditions,
        &path_of_conditions,
        environment,
    ));
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
    let mut seen = BTreeSet::new();
    for (place, version) in items.iter().enumerate() {
        if !seen.insert(version.to_string()) {
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
    fn conditions_that_need_what_is_not_here_are_refused_by_name() {
        let with = |expression: &str| {
            json!({"webhooks": [{"name": "a.b.c",
                "matchConditions": [{"name": "x", "expression": expression}]}]})
        };
        assert!(configuration_refusal(&kind(), &with("object.a == 1")).is_ok());
        let value = with("authorizer.path('/').check('get').allowed()");
        let status = configuration_refusal(&kind(), &value).unwrap_err();
        assert_eq!(status.code, 501);
        assert!(
            status.message.contains("the variable authorizer"),
            "{status}"
        );
    }
}
