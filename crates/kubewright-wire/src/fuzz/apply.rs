use jiff::Timestamp;
use kubewright_core::{GroupVersion, Kind};
use serde_json::Value;

use crate::apply::{self, Force, ServedVersions, Write, equal_but_times};
use crate::fields::FieldSet;
use crate::schema::{Schema, SchemaType, conform, from_crd};
use crate::yaml;

/// How many writes of one script are run.
const STEPS: usize = 8;

/// Writes to one object are carried out or refused, and an apply that was carried out changes
/// nothing when it comes again. The input is a script like those of `tests/apply`; what its
/// steps expect is not looked at.
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
    for step in steps.into_iter().flatten().take(STEPS) {
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

/// What is stored after a step.
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
    // Stored is only what the types of the kind know.
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
    let again = apply::apply(Some(&once), intent, &write, force);
    let again = again.expect("what was applied can be applied again");
    let again = stored(again).expect("what was stored can be stored again");
    // One that owns nothing leaves an object that was never applied, as in Kubernetes: whoever
    // applies next finds fields that were there before.
    let is_tracked = once.pointer("/metadata/managedFields").is_some();
    assert!(
        !is_tracked || equal_but_times(&once, &again),
        "{once}\n{again}"
    );
    Some(once)
}
