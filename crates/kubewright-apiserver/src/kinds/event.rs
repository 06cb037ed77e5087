use kubewright_core::Kind;
use kubewright_wire::schema::{self, Schema};
use serde_json::{Map, Value};

const STORED: &str = "v1";
const NEWER: &str = "events.k8s.io/v1";

/// What a field of an Event is called in events.k8s.io/v1 and in v1, the version that is stored
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

/// Whether a kind is the Event of events.k8s.io, whose objects are stored as those of the core
/// group.
pub(crate) fn is_newer_event(kind: &Kind) -> bool {
    kind.group() == "events.k8s.io" && kind.kind == "Event"
}

/// The kind that objects of a built-in kind are stored as, and by which refusals call them.
pub(crate) fn stored_kind(kind: &Kind) -> Kind {
    match is_newer_event(kind) {
        true => Kind::new("", STORED, "Event"),
        false => kind.clone(),
    }
}

/// An Event as it is stored.
pub(crate) fn stored_event(event: Value) -> Value {
    renamed(event, STORED, |(newer, stored)| (newer, stored))
}

/// A stored Event as events.k8s.io shows it.
pub(crate) fn newer_event(event: Value) -> Value {
    renamed(event, NEWER, |(newer, stored)| (stored, newer))
}

fn renamed(
    event: Value,
    version: &str,
    direction: fn((&'static str, &'static str)) -> (&'static str, &'static str),
) -> Value {
    let Value::Object(mut fields) = event else {
        return event;
    };
    if fields.get("apiVersion").is_some_and(|own| own == version) {
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
    let mut event = Value::Object(fields);
    let group = if version == STORED {
        ""
    } else {
        "events.k8s.io"
    };
    if let Some(schema) = Schema::builtin().kind(&Kind::new(group, "v1", "Event")) {
        // The two write empty fields differently. What was read once fits its types.
        let fitted = schema::conform(&mut event, schema);
        debug_assert!(fitted.is_ok(), "an Event that was read fits both versions");
    }
    event
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{newer_event, stored_event};

    #[test]
    fn an_event_has_other_names_in_the_newer_group_and_comes_back_as_it_was() {
        let newer = json!({
            "apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "a"},
            "eventTime": null, "note": "hello", "regarding": {"kind": "Pod"},
            "deprecatedSource": {"component": "c"}, "deprecatedFirstTimestamp": null,
            "deprecatedLastTimestamp": null, "deprecatedCount": 2,
        });
        let stored = stored_event(newer.clone());
        assert_eq!(stored["apiVersion"], "v1");
        assert_eq!(stored["message"], "hello");
        assert_eq!(stored["count"], 2);
        assert_eq!(stored["reportingComponent"], "");
        assert_eq!(newer_event(stored), newer);
    }
}
