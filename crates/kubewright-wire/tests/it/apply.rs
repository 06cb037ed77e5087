//! Scripts of writes to one object, with the result of Kubernetes' own library for each
//! (`tests/apply/*.yaml`, written by `cargo xtask vectors`).

use std::fs;
use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use kubewright_core::{GroupVersion, Kind};
use kubewright_wire::apply::{Force, ServedVersions, Write, apply, update};
use kubewright_wire::fields::{FieldSet, Path as FieldPath};
use kubewright_wire::schema::{Schema, conform, from_crd};
use kubewright_wire::status::Status;
use kubewright_wire::yaml;
use serde_json::{Value, json};

#[test]
fn every_script_ends_as_in_kubernetes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/apply");
    let mut scripts: Vec<_> = fs::read_dir(&folder)
        .expect("the folder of scripts")
        .map(|entry| entry.expect("a readable folder").path())
        .collect();
    scripts.sort();
    assert!(scripts.len() >= 25, "the folder has all scripts");
    let differences: Vec<String> = scripts.iter().flat_map(|path| run(path)).collect();
    assert!(
        differences.is_empty(),
        "{} steps differ:\n{}",
        differences.len(),
        differences.join("\n\n")
    );
}

fn run(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).expect("a readable script");
    let script = yaml::from_str(&text).expect("a script is YAML");
    let custom = script.get("schema");
    let mut live: Option<Value> = None;
    let mut differences = Vec::new();
    for (index, step) in script["steps"].as_array().into_iter().flatten().enumerate() {
        let found = result(live.as_ref(), step, index, custom);
        let expected = match step.get("error") {
            Some(error) => Err(error.clone()),
            None => Ok(step["object"].clone()),
        };
        if found != expected {
            let show = |result: &Result<Value, Value>| {
                let (Ok(value) | Err(value)) = result;
                yaml::to_string(value)
            };
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let diff = differing_lines(&show(&expected), &show(&found));
            differences.push(format!("{name}, step {index}:\n{diff}"));
        }
        // Continue from the expected object, so that a difference is reported once.
        if let Ok(object) = expected {
            live = Some(object);
        }
    }
    differences
}

fn differing_lines(expected: &str, found: &str) -> String {
    let expected_lines: Vec<&str> = expected.lines().collect();
    let found_lines: Vec<&str> = found.lines().collect();
    let missing = expected_lines
        .iter()
        .filter(|line| !found_lines.contains(line))
        .map(|line| format!("  missing {line}"));
    let surplus = found_lines
        .iter()
        .filter(|line| !expected_lines.contains(line))
        .map(|line| format!("  surplus {line}"));
    let lines: Vec<String> = missing.chain(surplus).collect();
    if lines.is_empty() {
        format!("  expected\n{expected}\n  found\n{found}")
    } else {
        lines.join("\n")
    }
}

/// Our result for a step, in the format of the scripts.
fn result(
    live: Option<&Value>,
    step: &Value,
    index: usize,
    custom: Option<&Value>,
) -> Result<Value, Value> {
    let sent = step
        .get("apply")
        .or_else(|| step.get("update"))
        .expect("a write");
    let text = |name: &str| step.get(name).and_then(Value::as_str).unwrap_or_default();
    // A script may send an object of a version that is not served to one that is.
    let api_version = sent["apiVersion"]
        .as_str()
        .unwrap_or_default()
        .replace("v99", "v1");
    let kind = Kind {
        group_version: GroupVersion::from_api_version(&api_version),
        kind: sent["kind"].as_str().unwrap_or_default().to_owned(),
    };
    let custom_types;
    let types = match custom {
        None => Schema::builtin(),
        Some(custom) => {
            custom_types = from_crd(&kind, Some(custom)).expect("a schema");
            &custom_types
        }
    };
    let schema = types.kind(&kind).expect("a known kind");
    let versions = ServedVersions::one(kind.api_version(), schema);
    let names = step
        .get("reset")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let reset: FieldSet = names
        .filter_map(|name| Some(FieldPath::fields(&[name.as_str()?])))
        .collect();
    let start: Timestamp = "2026-01-01T00:00:00Z".parse().expect("a time");
    let seconds = i64::try_from(index).expect("few steps");
    let write = Write {
        kind: &kind,
        versions: &versions,
        manager: text("manager"),
        subresource: text("subresource"),
        time: start + SignedDuration::from_secs(seconds),
        reset: &reset,
    };
    let tidy = |mut object: Value| {
        object["metadata"]["uid"] = json!("u-1");
        if custom.is_none() {
            conform(&mut object, schema).expect("an object of its kind");
        }
        object
    };
    if step.get("update").is_some() {
        let mut new = sent.clone();
        if live.is_some() {
            new["metadata"]["uid"] = json!("u-1");
        }
        if custom.is_none() {
            conform(&mut new, schema).expect("an object of its kind");
        }
        return Ok(tidy(update(live, new, &write)));
    }
    let force = match step.get("force") {
        Some(Value::Bool(true)) => Force::Yes,
        _ => Force::No,
    };
    apply(live, sent, &write, force)
        .map(tidy)
        .map_err(|status| describe(&status))
}

fn describe(status: &Status) -> Value {
    let mut error = json!({"code": status.code, "message": status.message});
    let causes = status.details.as_ref().map(|details| &details.causes);
    if let Some(causes) = causes.filter(|causes| !causes.is_empty()) {
        error["causes"] = serde_json::to_value(causes).expect("causes have JSON");
    }
    error
}
