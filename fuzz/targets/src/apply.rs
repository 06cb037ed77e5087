//! Target for server-side apply.

use jiff::Timestamp;
use kubewright_core::{GroupVersion, Kind};
use serde_json::Value;

use kubewright_wire::apply::{self, Force, ServedVersions, Write, equal_ignoring_times};
use kubewright_wire::fields::FieldSet;
use kubewright_wire::schema::{Schema, SchemaType, conform, from_crd};
use kubewright_wire::yaml;

/// How many steps of a script are run.
const MAX_STEPS: usize = 8;

/// Writes to one object succeed or fail without a panic, and an apply that succeeds changes nothing
/// when it is sent again. The input is a script like those of `tests/apply`; the expectations of its
/// steps are ignored.
///
/// # Panics
///
/// When that does not hold.
pub fn apply(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let Ok(script) = yaml::from_str(&text) else {
        return;
    };
    let steps = script.get("steps").and_then(Value::as_array);
    let mut live = None;
    for step in steps.into_iter().flatten().take(MAX_STEPS) {
        live = run(live, step, script.get("schema"));
    }
}

fn run(live: Option<Value>, step: &Value, custom: Option<&Value>) -> Option<Value> {
    let sent = step.get("apply").or_else(|| step.get("update"));
    let Some(sent) = sent.filter(|sent| sent.is_object()) else {
        return live;
    };
    let text = |name: &str| sent.get(name).and_then(Value::as_str).unwrap_or_default();
    let kind = Kind {
        group_version: GroupVersion::from_api_version(text("apiVersion")),
        kind: text("kind").to_owned(),
    };
    let Some(custom) = custom else {
        return match Schema::builtin().kind(&kind) {
            Some(schema) => write(live, step, &kind, schema),
            None => live,
        };
    };
    let Ok(own) = from_crd(&kind, Some(custom)) else {
        return live;
    };
    match own.kind(&kind) {
        Some(schema) => write(live, step, &kind, schema),
        None => live,
    }
}

/// Runs a step. Returns the stored object.
fn write(live: Option<Value>, step: &Value, kind: &Kind, schema: SchemaType<'_>) -> Option<Value> {
    let text = |name: &str| step.get(name).and_then(Value::as_str).unwrap_or_default();
    let (versions, reset) = (
        ServedVersions::one(kind.api_version(), schema),
        FieldSet::default(),
    );
    let write = Write {
        kind,
        versions: &versions,
        manager: text("manager"),
        subresource: text("subresource"),
        time: Timestamp::UNIX_EPOCH,
        reset: &reset,
    };
    // The server stores only fields of the schema.
    let stored = |mut object: Value| conform(&mut object, schema).ok().map(|_| object);
    if let Some(new) = step.get("update") {
        let Some(new) = stored(new.clone()) else {
            return live;
        };
        return stored(apply::update(live.as_ref(), new, &write)).or(live);
    }
    let intent = step.get("apply")?;
    let force = match step.get("force") {
        Some(Value::Bool(true)) => Force::Yes,
        _ => Force::No,
    };
    let Some(once) = apply::apply(live.as_ref(), intent, &write, force)
        .ok()
        .and_then(stored)
    else {
        return live;
    };
    let applied_again =
        apply::apply(Some(&once), intent, &write, force).expect("the same apply succeeds again");
    let again = stored(applied_again).expect("the same object is stored again");
    // An apply that owns no field leaves an object without managedFields, as in Kubernetes. The next
    // apply then assigns all fields to the manager `before-first-apply`.
    let is_tracked = once.pointer("/metadata/managedFields").is_some();
    assert!(
        !is_tracked || equal_ignoring_times(&once, &again),
        "{once}\n{again}"
    );
    Some(once)
}
