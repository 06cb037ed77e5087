//! Scripts of writes to one object, with what Kubernetes' own library answers to each
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
    assert!(scripts.len() >= 25, "the scripts are there");
    let faults: Vec<String> = scripts.iter().flat_map(|path| run(path)).collect();
    assert!(
        faults.is_empty(),
        "{} steps differ:\n{}",
        faults.len(),
        faults.join("\n\n")
    );
}

fn run(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).expect("a readable script");
    let script = yaml::from_str(&text).expect("a script is YAML");
    let custom = script.get("schema");
    let mut live: Option<Value> = None;
    let mut faults = Vec::new();
    for (index, step) in script["steps"].as_array().into_iter().flatten().enumerate() {
        let found = answer(live.as_ref(), step, index, custom);
        let expected = match step.get("error") {
            Some(error) => Err(error.clone()),
            None => Ok(step["object"].clone()),
        };
        if found != expected {
            let show = |answer: &Result<Value, Value>| {
                let (Ok(value) | Err(value)) = answer;
                yaml::to_string(value)
            };
            let (found, expected) = (show(&found), show(&expected));
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let diff = differing_lines(&expected, &found);
            faults.push(format!("{name}, step {index}:\n{diff}"));
        }
        // Go on from what the library has, so that one fault is told once.
        if let Ok(object) = expected {
            live = Some(object);
        }
    }
    faults
}

fn differing_lines(expected: &str, found: &str) -> String {
    let (expected, found): (Vec<&str>, Vec<&str>) =
        (expected.lines().collect(), found.lines().collect());
    let missing = expected.iter().filter(|line| !found.contains(line));
    let surplus = found.iter().filter(|line| !expected.contains(line));
    let missing = missing.map(|line| format!("  missing {line}"));
    let surplus = surplus.map(|line| format!("  surplus {line}"));
    let lines: Vec<String> = missing.chain(surplus).collect();
    match lines.is_empty() {
        true => format!(
            "  expected\n{}\n  found\n{}",
            expected.join("\n"),
            found.join("\n")
        ),
        false => lines.join("\n"),
    }
}

/// What we answer to a step, as the script writes it down.
fn answer(
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
    // A script may send a version that is not served; the request goes to the one that is.
    let api_version = sent["apiVersion"]
        .as_str()
        .unwrap_or_default()
        .replace("v99", "v1");
    let kind = Kind {
        group_version: GroupVersion::from_api_version(&api_version),
        kind: sent["kind"].as_str().unwrap_or_default().to_owned(),
    };
    let own;
    let schema = match custom {
        None => Schema::builtin(),
        Some(custom) => {
            own = from_crd(&kind, Some(custom)).expect("a schema");
            &own
        }
    };
    let schema = schema.kind(&kind).expect("a known kind");
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
