use serde_json::{Value, json};

use super::formats::{qualified_name, subdomain};
use super::{At, Findings};

/// `legacyValidateEvent` for events of version `v1` of the core group.
pub(super) fn event(object: &Value, _: Option<&Value>, findings: &mut Findings) {
    let about = At::top(object, "involvedObject");
    let namespace = object["metadata"]["namespace"].as_str().unwrap_or_default();
    let theirs = about.text_of("namespace");
    let is_new_form = object["eventTime"].is_string();
    let agrees = match (theirs, is_new_form) {
        ("", false) => matches!(namespace, "" | "default"),
        ("", true) => matches!(namespace, "default" | "kube-system"),
        (_, true) => true,
        (theirs, false) => theirs == namespace,
    };
    if !agrees {
        findings.invalid_text(about.field("namespace"), "does not match event.namespace");
    }
    if is_new_form {
        new_form(object, findings);
    }
    let path = At::top(object, "namespace");
    for problem in subdomain(namespace) {
        findings.invalid_value(path, &json!(namespace), &problem);
    }
}

/// Events with a time of their own say who reports what.
fn new_form(object: &Value, findings: &mut Findings) {
    let text = |field: &'static str| object[field].as_str().unwrap_or_default();
    let component = At::top(object, "reportingComponent");
    if component.text().is_empty() {
        findings.required(component, "");
    }
    findings.problems(component, qualified_name(component.text()));
    let mut limit = |field: &'static str, longest: usize, may_be_empty: bool| {
        let at = At::top(object, field);
        if text(field).is_empty() && !may_be_empty {
            findings.required(at, "");
        }
        if text(field).len() > longest {
            let detail = format!("can have at most {longest} characters");
            findings.invalid_value(at, &json!(""), &detail);
        }
    };
    limit("reportingInstance", 128, false);
    limit("action", 128, false);
    limit("reason", 128, false);
    limit("message", 1024, true);
}
