//! Compares defaults, preparation and validation of built-in kinds with the results of Kubernetes'
//! own code, which `cargo xtask vectors` writes.

use std::fmt::Write as _;

use flate2::read::GzDecoder;
use kubewright_core::{GroupVersion, Kind, Revision};
use kubewright_wire::status::Status;
use serde::Deserialize;
use serde_json::{Value, json};

use super::metadata::{keep_system_fields, set_system_fields, split_parts};
use super::part::Part;
use super::sent_metadata::accept_new;
use super::validate::validate;
use crate::request::Api;
use crate::request::target::Target;
use crate::resources::{builtins, conform_builtin};
use crate::server::{Server, ServerOptions};
use crate::store::Object;

#[derive(Deserialize)]
struct Vectors {
    defaulted: Vec<Defaulted>,
    written: Vec<Written>,
}

#[derive(Deserialize)]
struct Defaulted {
    object: Value,
    result: Value,
}

#[derive(Deserialize)]
struct Written {
    about: String,
    object: Value,
    old: Option<Value>,
    result: Option<Value>,
    error: Option<VectorError>,
}

#[derive(Deserialize)]
struct VectorError {
    message: String,
    causes: Vec<Value>,
}

fn vectors() -> Vectors {
    let packed = include_bytes!("../../../tests/kinds/results.json.gz");
    serde_json::from_reader(GzDecoder::new(packed.as_slice())).unwrap()
}

fn kind_of(object: &Value) -> Kind {
    let text = |field: &str| object[field].as_str().unwrap().to_owned();
    Kind {
        group_version: GroupVersion::from_api_version(&text("apiVersion")),
        kind: text("kind"),
    }
}

/// The paths at which two values differ, with both values.
fn differences(path: &str, theirs: &Value, ours: &Value, out: &mut Vec<String>) {
    match (theirs, ours) {
        (Value::Object(a), Value::Object(b)) => {
            for name in a
                .keys()
                .chain(b.keys().filter(|name| !a.contains_key(*name)))
            {
                let member_path = format!("{path}.{name}");
                let member = |map: &serde_json::Map<String, Value>| {
                    map.get(name).cloned().unwrap_or_else(|| json!("(absent)"))
                };
                differences(&member_path, &member(a), &member(b), out);
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (index, (a, b)) in a.iter().zip(b).enumerate() {
                differences(&format!("{path}[{index}]"), a, b, out);
            }
        }
        (a, b) if a == b => {}
        (a, b) => out.push(format!("{path}: Kubernetes {a}, Kubewright {b}")),
    }
}

/// Removes times that depend on the clock.
fn without_times(mut value: Value) -> Value {
    if let Some(Value::Array(devices)) = value.pointer_mut("/spec/devices") {
        for taint in devices
            .iter_mut()
            .filter_map(|device| device.pointer_mut("/taints/0"))
        {
            taint["timeAdded"] = Value::Null;
        }
    }
    if let Some(time) = value.pointer_mut("/result/status/conditions/0/lastTransitionTime") {
        *time = Value::Null;
    }
    value
}

#[test]
fn every_kind_has_the_defaults_of_kubernetes() {
    let mut differing = String::new();
    let cases = vectors().defaulted;
    for case in &cases {
        let kind = kind_of(&case.object);
        if builtins().all().iter().all(|served| *served.kind() != kind) {
            continue;
        }
        let mut ours = case.object.clone();
        conform_builtin(&mut ours, &kind).unwrap();
        let mut found = Vec::new();
        let theirs = without_times(case.result.clone());
        differences("", &theirs, &without_times(ours), &mut found);
        for line in found {
            writeln!(differing, "{kind}{line}").unwrap();
        }
    }
    assert!(cases.len() > 60, "{} cases", cases.len());
    assert!(
        differing.is_empty(),
        "of {} objects:\n{differing}",
        cases.len()
    );
}

fn target(object: &Value) -> Target {
    let kind = kind_of(object);
    let mut all = builtins().all().iter();
    let served = all.find(|served| *served.kind() == kind).unwrap();
    Target {
        resource: served.clone(),
        namespace: served.is_namespaced().then(|| "default".to_owned()),
        name: None,
    }
}

fn write(api: &Api, case: &Written) -> Result<Value, Status> {
    let target = target(&case.object);
    let mut value = case.object.clone();
    conform_builtin(&mut value, target.kind()).unwrap();
    let old = case
        .old
        .clone()
        .map(|old| Object::new(old, Revision::new(1)));
    match &old {
        None => {
            accept_new(&target, &mut value)?;
            set_system_fields(api, &target, &mut value);
        }
        Some(old) => {
            keep_system_fields(old, &mut value);
            split_parts(&target, Part::Main, old, &mut value);
        }
    }
    validate(&target, Part::Main, old.as_ref(), &value)?;
    Ok(value)
}

/// The compared part of a message: the lines after it print Go structs.
fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

fn comparable(message: &str, causes: &[Value]) -> Value {
    let causes: Vec<Value> = causes
        .iter()
        .map(|cause| {
            let mut cause = cause.clone();
            let message = cause["message"].as_str().unwrap_or_default().to_owned();
            cause["message"] = json!(first_line(&message));
            cause
        })
        .collect();
    json!({"message": first_line(message), "causes": causes})
}

#[test]
fn objects_are_prepared_and_rejected_as_by_kubernetes() {
    let server = Server::new(ServerOptions::default());
    let mut differing = String::new();
    let cases = vectors().written;
    let mut wrong = 0;
    for case in &cases {
        let ours = match write(server.api(), case) {
            Ok(mut value) => {
                value["metadata"]["uid"] = json!("11111111-2222-4333-8444-555555555555");
                value["metadata"]["creationTimestamp"] = json!("2026-01-01T00:00:00Z");
                value["metadata"]["resourceVersion"] = json!("1");
                json!({"result": value})
            }
            Err(status) => {
                let details = status.details.unwrap_or_default();
                let causes: Vec<Value> = details.causes.iter().map(|cause| json!(cause)).collect();
                json!({"error": comparable(&status.message, &causes)})
            }
        };
        let theirs = match (&case.result, &case.error) {
            (Some(result), _) => json!({"result": result}),
            (None, Some(error)) => json!({"error": comparable(&error.message, &error.causes)}),
            (None, None) => Value::Null,
        };
        let mut found = Vec::new();
        differences("", &without_times(theirs), &without_times(ours), &mut found);
        wrong += usize::from(!found.is_empty());
        for line in found {
            let kind = &case.object["kind"];
            writeln!(differing, "{kind} {:?} {line}", case.about).unwrap();
        }
    }
    assert!(cases.len() > 250, "{} cases", cases.len());
    assert!(
        differing.is_empty(),
        "{wrong} of {}:\n{differing}",
        cases.len()
    );
}
