//! Validation of Events of events.k8s.io.

use serde_json::{Value, json};

use super::conversion::to_stored;
use crate::core::validate_stored;
use crate::error_list::ErrorList;
use crate::field_path::FieldPath;
use crate::json::text;

const CONTROLLER: &str = "reportingController";

/// `ValidateEventCreate`, `ValidateEventUpdate`. Errors have the paths of the stored form, except
/// for `reportingController`.
pub(super) fn validate(object: &Value, old: Option<&Value>, errors: &mut ErrorList) {
    let stored = to_stored(object.clone());
    validate_stored(&stored, CONTROLLER, errors);
    match old {
        None => {
            validate_series(&stored, errors);
            validate_create(&stored, errors);
        }
        Some(old) => {
            let old = to_stored(old.clone());
            if stored["series"] != old["series"] {
                validate_series(&stored, errors);
            }
            validate_update(&stored, &old, errors);
        }
    }
}

/// `validateV1EventSeries`.
fn validate_series(object: &Value, errors: &mut ErrorList) {
    let series = FieldPath::new(object, "series");
    if !series.is_set() {
        return;
    }
    let count = series.field("count");
    if count.number().unwrap_or(0) < 2 {
        errors.invalid_value(count, &json!(""), "should be at least 2");
    }
    let last = series.field("lastObservedTime");
    if !last.is_set() {
        errors.required(last, "");
    }
}

fn validate_create(object: &Value, errors: &mut ErrorList) {
    let time = FieldPath::new(object, "eventTime");
    if !time.is_set() {
        errors.required(time, "");
    }
    let kind = FieldPath::new(object, "type");
    if !matches!(kind.text(), "Normal" | "Warning") {
        let detail = format!("has invalid value: {}", kind.text());
        errors.invalid_value(kind, &json!(""), &detail);
    }
    let source = FieldPath::new(object, "source");
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
            let at = FieldPath::new(object, name);
            errors.invalid_value(at, &json!(""), "needs to be unset");
        }
    }
}

/// Only the metadata and the series can change.
fn validate_update(object: &Value, old: &Value, errors: &mut ErrorList) {
    const IMMUTABLE: [&str; 14] = [
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
    for name in IMMUTABLE {
        let (now, before) = (&object[name], &old[name]);
        if now == before {
            continue;
        }
        let path = if name == "reportingComponent" {
            CONTROLLER
        } else {
            name
        };
        let at = FieldPath::new(object, path).with(now);
        errors.invalid_as(at, &go_value(name, now), "field is immutable");
    }
}

/// A value as Go prints the internal type, which has no JSON names.
fn go_value(name: &str, value: &Value) -> String {
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
        _ => return json!(text(value)).to_string(),
    };
    let member = |field: &&str| {
        let name = match *field {
            "uid" => "UID".to_owned(),
            "apiVersion" => "APIVersion".to_owned(),
            other => {
                let mut letters = other.chars();
                let first = letters.next().map(|first| first.to_ascii_uppercase());
                first.into_iter().chain(letters).collect()
            }
        };
        format!("\"{name}\":{}", json!(text(&value[*field])))
    };
    let members: Vec<String> = fields.iter().map(member).collect();
    format!("{{{}}}", members.join(","))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::events::EVENT;

    #[test]
    fn content_of_an_event_is_immutable() {
        let event = |note: &str, name: &str| {
            json!({
                "apiVersion": "events.k8s.io/v1", "kind": "Event",
                "metadata": {"name": "a", "namespace": "default"},
                "eventTime": "2026-01-01T00:00:00.000000Z", "reportingController": "a/b",
                "reportingInstance": "i", "action": "a", "reason": "r", "type": "Normal",
                "note": note, "regarding": {"kind": "Pod", "name": name},
            })
        };
        assert_eq!(
            EVENT.errors(&event("x", "q"), Some(&event("y", "p"))),
            [
                "involvedObject: Invalid value: {\"Kind\":\"Pod\",\"Namespace\":\"\",\"Name\":\"q\",\
                 \"UID\":\"\",\"APIVersion\":\"\",\"ResourceVersion\":\"\",\"FieldPath\":\"\"}: field \
                 is immutable",
                "message: Invalid value: \"x\": field is immutable",
            ]
        );
        assert!(EVENT.errors(&event("x", "q"), None).is_empty());
    }
}
