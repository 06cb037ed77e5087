use serde_json::{Value, json};

use super::super::event::stored_event;
use super::formats::{qualified_name, subdomain};
use super::{At, Findings};

const CONTROLLER: &str = "reportingController";

/// `ValidateEventCreate`, `ValidateEventUpdate` for events of version `v1` of the core group.
pub(super) fn event(object: &Value, _: Option<&Value>, findings: &mut Findings) {
    legacy(object, "reportingComponent", findings);
}

/// The same for events of events.k8s.io/v1. What is wrong is told of their stored form, but for
/// the name of one field.
pub(super) fn newer_event(object: &Value, old: Option<&Value>, findings: &mut Findings) {
    let object = &stored_event(object.clone());
    legacy(object, CONTROLLER, findings);
    let series = |event: &Value| event.get("series").cloned().unwrap_or_default();
    let Some(old) = old else {
        check_series(object, findings);
        return created(object, findings);
    };
    let old = &stored_event(old.clone());
    if series(object) != series(old) {
        check_series(object, findings);
    }
    changed(object, old, findings);
}

/// `legacyValidateEvent`.
fn legacy(object: &Value, controller: &'static str, findings: &mut Findings) {
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
        new_form(object, controller, findings);
    }
    let path = At::top(object, "namespace");
    for problem in subdomain(namespace) {
        findings.invalid_value(path, &json!(namespace), &problem);
    }
}

/// Events with a time of their own say who reports what.
fn new_form(object: &Value, controller: &'static str, findings: &mut Findings) {
    let text = |field: &'static str| object[field].as_str().unwrap_or_default();
    let component = At::top(object, controller).with(&object["reportingComponent"]);
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

/// `validateV1EventSeries`.
fn check_series(object: &Value, findings: &mut Findings) {
    let series = At::top(object, "series");
    if !series.is_set() {
        return;
    }
    let count = series.field("count");
    if count.number().unwrap_or(0) < 2 {
        findings.invalid_value(count, &json!(""), "should be at least 2");
    }
    let last = series.field("lastObservedTime");
    if !last.is_set() {
        findings.required(last, "");
    }
}

fn created(object: &Value, findings: &mut Findings) {
    let time = At::top(object, "eventTime");
    if !time.is_set() {
        findings.required(time, "");
    }
    let kind = At::top(object, "type");
    if !matches!(kind.text(), "Normal" | "Warning") {
        let detail = format!("has invalid value: {}", kind.text());
        findings.invalid_value(kind, &json!(""), &detail);
    }
    let source = At::top(object, "source");
    let has_source = ["component", "host"]
        .iter()
        .any(|field| !source.text_of(field).is_empty());
    for (name, is_set) in [
        ("firstTimestamp", object["firstTimestamp"].is_string()),
        ("lastTimestamp", object["lastTimestamp"].is_string()),
        ("count", object["count"].as_i64().unwrap_or(0) != 0),
        ("source", has_source),
    ] {
        if is_set {
            let at = At::top(object, name);
            findings.invalid_value(at, &json!(""), "needs to be unset");
        }
    }
}

/// All but the metadata and the series stays.
fn changed(object: &Value, old: &Value, findings: &mut Findings) {
    const KEPT: [&str; 14] = [
        "involvedObject",
        "reason",
        "message",
        "source",
        "firstTimestamp",
        "lastTimestamp",
        "count",
        "reason",
        "type",
        "eventTime",
        "action",
        "related",
        "reportingComponent",
        "reportingInstance",
    ];
    for name in KEPT {
        let (now, before) = (&object[name], &old[name]);
        if now == before {
            continue;
        }
        let path = if name == "reportingComponent" {
            CONTROLLER
        } else {
            name
        };
        let at = At::top(object, path).with(now);
        findings.invalid_as(at, &as_go_writes(name, now), "field is immutable");
    }
}

/// A value with the names of its fields in Go, which has no others for them here.
fn as_go_writes(name: &str, value: &Value) -> String {
    let fields: &[&str] = match name {
        "involvedObject" | "related" if value.is_object() => &[
            "kind",
            "namespace",
            "name",
            "uid",
            "apiVersion",
            "resourceVersion",
            "fieldPath",
        ],
        "source" => &["component", "host"],
        "count" => return value.as_i64().unwrap_or(0).to_string(),
        "involvedObject" | "related" | "eventTime" | "firstTimestamp" | "lastTimestamp" => {
            return value.to_string();
        }
        _ => return json!(value.as_str().unwrap_or_default()).to_string(),
    };
    let named = |field: &&str| {
        let name = match *field {
            "uid" => "UID".to_owned(),
            "apiVersion" => "APIVersion".to_owned(),
            other => {
                let mut letters = other.chars();
                let first = letters.next().map(|first| first.to_ascii_uppercase());
                first.into_iter().chain(letters).collect()
            }
        };
        format!(
            "\"{name}\":{}",
            json!(value[*field].as_str().unwrap_or_default())
        )
    };
    let fields: Vec<String> = fields.iter().map(named).collect();
    format!("{{{}}}", fields.join(","))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Findings;
    use super::newer_event;

    #[test]
    fn an_event_of_the_newer_group_keeps_what_it_says() {
        let event = |note: &str, name: &str| {
            json!({
                "apiVersion": "events.k8s.io/v1", "kind": "Event",
                "metadata": {"name": "a", "namespace": "default"},
                "eventTime": "2026-01-01T00:00:00.000000Z", "reportingController": "a/b",
                "reportingInstance": "i", "action": "a", "reason": "r", "type": "Normal",
                "note": note, "regarding": {"kind": "Pod", "name": name},
            })
        };
        let mut findings = Findings::default();
        newer_event(&event("x", "q"), Some(&event("y", "p")), &mut findings);
        let causes = findings.into_causes();
        let told: Vec<_> = causes.iter().map(|cause| cause.with_field()).collect();
        assert_eq!(
            told,
            [
                "involvedObject: Invalid value: {\"Kind\":\"Pod\",\"Namespace\":\"\",\"Name\":\"q\",\
                 \"UID\":\"\",\"APIVersion\":\"\",\"ResourceVersion\":\"\",\"FieldPath\":\"\"}: field \
                 is immutable",
                "message: Invalid value: \"x\": field is immutable",
            ]
        );
        let mut findings = Findings::default();
        newer_event(&event("x", "q"), None, &mut findings);
        assert!(findings.into_causes().is_empty());
    }
}
