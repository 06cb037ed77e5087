//! `WebhookClientConfig`: how a webhook is reached.

use http::Uri;
use kubewright_wire::status::Cause;
use serde_json::{Value, json};

use crate::json::text;

const FORM: &str = "; desired format: https://host[/path]";

/// The errors of a client configuration.
pub fn client_causes(client: &Value, path: &str) -> Vec<Cause> {
    let mut causes = Vec::new();
    match (client["url"].as_str(), client["service"].is_object()) {
        (Some(url), false) => check_url(url, &format!("{path}.url"), &mut causes),
        (None, true) => {
            check_service(&client["service"], &format!("{path}.service"), &mut causes);
        }
        _ => {
            let detail = "exactly one of url or service is required";
            causes.push(Cause::required(path, detail));
        }
    }
    causes
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
        if text(&service[field]).is_empty() {
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
    let url_path = text(&service["path"]);
    if !url_path.is_empty() && !url_path.starts_with('/') {
        let detail = "must start with a '/'";
        causes.push(Cause::invalid(
            &format!("{path}.path"),
            &json!(url_path),
            detail,
        ));
    }
}
