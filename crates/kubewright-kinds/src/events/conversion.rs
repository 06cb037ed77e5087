//! The conversion between events.k8s.io/v1 and the stored form, v1 of the core group.

use kubewright_core::Kind;
use kubewright_wire::schema::{self, Schema};
use serde_json::{Map, Value};

use crate::groups;

const STORED: &str = "v1";

const NEWER: &str = "events.k8s.io/v1";

/// The names of fields in events.k8s.io/v1 and in the stored form
/// (pkg/apis/events/v1/conversion.go).
const NAMES: [(&str, &str); 7] = [
    ("note", "message"),
    ("regarding", "involvedObject"),
    ("reportingController", "reportingComponent"),
    ("deprecatedSource", "source"),
    ("deprecatedFirstTimestamp", "firstTimestamp"),
    ("deprecatedLastTimestamp", "lastTimestamp"),
    ("deprecatedCount", "count"),
];

/// Converts an Event to the stored form.
pub(crate) fn to_stored(event: Value) -> Value {
    convert(event, STORED, |names| names)
}

/// Converts a stored Event to events.k8s.io/v1.
pub(crate) fn from_stored(event: Value) -> Value {
    convert(event, NEWER, |(newer, stored)| (stored, newer))
}

/// Renames the fields, each pair in the given direction.
fn convert(
    event: Value,
    version: &str,
    direction: fn((&'static str, &'static str)) -> (&'static str, &'static str),
) -> Value {
    let Value::Object(mut fields) = event else {
        return event;
    };
    if fields
        .get("apiVersion")
        .is_some_and(|present| present == version)
    {
        return Value::Object(fields);
    }
    let mut moved = Map::new();
    for (from, to) in NAMES.map(direction) {
        if let Some(value) = fields.remove(from) {
            moved.insert(to.to_owned(), value);
        }
    }
    fields.append(&mut moved);
    fields.insert("apiVersion".to_owned(), Value::from(version));
    let mut converted = Value::Object(fields);
    let group = if version == STORED {
        groups::CORE
    } else {
        groups::EVENTS
    };
    if let Some(schema) = Schema::builtin().kind(&Kind::new(group, "v1", "Event")) {
        // The forms differ in which empty fields they have. A decoded Event has the right types.
        let conformed = schema::conform(&mut converted, schema);
        debug_assert!(
            conformed.is_ok(),
            "a decoded Event has the types of both versions"
        );
    }
    converted
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{from_stored, to_stored};

    #[test]
    fn conversion_to_the_stored_form_and_back_loses_nothing() {
        let newer = json!({
            "apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "a"},
            "eventTime": null, "note": "hello", "regarding": {"kind": "Pod"},
            "deprecatedSource": {"component": "c"}, "deprecatedFirstTimestamp": null,
            "deprecatedLastTimestamp": null, "deprecatedCount": 2,
        });
        let stored = to_stored(newer.clone());
        assert_eq!(stored["apiVersion"], "v1");
        assert_eq!(stored["message"], "hello");
        assert_eq!(stored["count"], 2);
        assert_eq!(stored["reportingComponent"], "");
        assert_eq!(from_stored(stored), newer);
    }
}
