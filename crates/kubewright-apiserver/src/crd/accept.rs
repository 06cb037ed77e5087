use kubewright_wire::status::{Cause, Status};
use serde_json::{Value, json};

use super::check::{check, check_update, lacking};
use super::names::accept_names;
use crate::server::Server;
use crate::store::Object;

/// What a definition says when it does not: names that follow from the kind, no conversion.
pub(crate) fn fill_in(value: &mut Value) {
    let Some(spec) = value.get_mut("spec").and_then(Value::as_object_mut) else {
        return;
    };
    if spec.get("conversion").is_none_or(Value::is_null) {
        spec.insert("conversion".to_owned(), json!({"strategy": "None"}));
    }
    let service = spec
        .get_mut("conversion")
        .and_then(|conversion| conversion.pointer_mut("/webhook/clientConfig/service"));
    if let Some(service) = service.and_then(Value::as_object_mut) {
        service.entry("port").or_insert(json!(443));
    }
    let Some(names) = spec.get_mut("names").and_then(Value::as_object_mut) else {
        return;
    };
    let Some(kind) = names.get("kind").and_then(Value::as_str).map(str::to_owned) else {
        return;
    };
    for (field, value) in [
        ("singular", kind.to_lowercase()),
        ("listKind", format!("{kind}List")),
    ] {
        let is_empty = |present: &Value| present.as_str().is_none_or(str::is_empty);
        if names.get(field).is_none_or(is_empty) {
            names.insert(field.to_owned(), json!(value));
        }
    }
}

/// What is wrong with a definition beside its metadata; `old` is the one that it replaces.
pub(crate) fn definition_causes(value: &Value, old: Option<&Value>) -> Vec<Cause> {
    // What this server cannot do is not wrong: `accept` refuses it by name.
    if lacking(value).is_err() {
        return Vec::new();
    }
    match old {
        Some(old) => check_update(old, value),
        None => check(value),
    }
}

/// Gives a definition that nothing is wrong with the status that a real server gives it step by
/// step.
pub(crate) fn accept(
    server: &Server,
    value: &mut Value,
    old: Option<&Object>,
) -> Result<(), Status> {
    // What this server cannot do is refused by name before it could be relied upon.
    lacking(value)?;
    if old.is_none() {
        value["status"] = json!({});
    }
    note_stored_version(value);
    accept_names(server, value);
    Ok(())
}

fn versions(value: &Value) -> impl Iterator<Item = &Value> {
    value["spec"]["versions"].as_array().into_iter().flatten()
}

fn note_stored_version(value: &mut Value) {
    let storage = versions(value)
        .find(|version| version["storage"] == true)
        .map(|version| version["name"].clone());
    let Some(storage) = storage else {
        return;
    };
    let stored = &mut value["status"]["storedVersions"];
    match stored.as_array_mut() {
        Some(stored) if stored.contains(&storage) => {}
        Some(stored) => stored.push(storage),
        None => *stored = json!([storage]),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::lacking;

    #[test]
    fn a_rule_that_uses_what_is_not_here_is_refused_by_name() {
        let schema = json!({"type": "object", "properties": {"spec": {
            "type": "object", "properties": {"t": {"type": "string", "format": "date-time"}},
            "x-kubernetes-validations": [{"rule": "self.t.getHours('Asia/Tokyo') > 1"}],
        }}});
        let definition = json!({"spec": {"versions": [{"schema": {"openAPIV3Schema": schema}}]}});
        let status = lacking(&definition).unwrap_err();
        assert_eq!(status.code, 501);
        assert_eq!(
            status.message,
            "getHours() with a time zone in CEL is not implemented yet: spec has the rule \
             \"self.t.getHours('Asia/Tokyo') > 1\""
        );
    }
}
