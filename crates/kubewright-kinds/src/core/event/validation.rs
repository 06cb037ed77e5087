//! Validation of Events in their stored form.

use kubewright_core::format::{qualified_name, subdomain};
use serde_json::{Value, json};

use crate::error_list::ErrorList;
use crate::field_path::FieldPath;
use crate::json::text;

/// `legacyValidateEvent`. `controller` is the name of the field `reportingComponent` in errors.
pub(crate) fn validate_stored(object: &Value, controller: &'static str, errors: &mut ErrorList) {
    let involved = FieldPath::new(object, "involvedObject");
    let namespace = text(&object["metadata"]["namespace"]);
    let has_event_time = object["eventTime"].is_string();
    let matches = match (involved.text_of("namespace"), has_event_time) {
        ("", false) => matches!(namespace, "" | "default"),
        ("", true) => matches!(namespace, "default" | "kube-system"),
        (_, true) => true,
        (involved, false) => involved == namespace,
    };
    if !matches {
        errors.invalid_text(
            involved.field("namespace"),
            "does not match event.namespace",
        );
    }
    if has_event_time {
        validate_reporter(object, controller, errors);
    }
    let path = FieldPath::new(object, "namespace");
    for problem in subdomain(namespace) {
        errors.invalid_value(path, &json!(namespace), &problem);
    }
}

/// Events with an `eventTime` name the component that reports them.
fn validate_reporter(object: &Value, controller: &'static str, errors: &mut ErrorList) {
    let component = FieldPath::new(object, controller).with(&object["reportingComponent"]);
    if component.text().is_empty() {
        errors.required(component, "");
    }
    errors.problems(component, qualified_name(component.text()));
    for (field, longest) in [
        ("reportingInstance", 128),
        ("action", 128),
        ("reason", 128),
        ("message", 1024),
    ] {
        let at = FieldPath::new(object, field);
        if at.text().is_empty() && field != "message" {
            errors.required(at, "");
        }
        if at.text().len() > longest {
            let detail = format!("can have at most {longest} characters");
            errors.invalid_value(at, &json!(""), &detail);
        }
    }
}
