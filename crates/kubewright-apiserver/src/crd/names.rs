use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::server::Server;
use crate::store::Object;

/// Gives a definition the names it asks for, unless another definition of its group has one of
/// them (`calculateNamesAndConditions` of k8s.io/apiextensions-apiserver).
pub(super) fn accept_names(server: &Server, value: &mut Value) {
    let others = claimed(server, value);
    let wanted = value["spec"]["names"].clone();
    let mut accepted = value["status"]["acceptedNames"].clone();
    if !accepted.is_object() {
        accepted = json!({"plural": "", "kind": ""});
    }
    let mut conflict = None;
    for (field, names, reason) in [
        ("plural", &others.resources, "PluralConflict"),
        ("singular", &others.resources, "SingularConflict"),
        ("shortNames", &others.resources, "ShortNamesConflict"),
        ("kind", &others.kinds, "KindConflict"),
        ("listKind", &others.kinds, "ListKindConflict"),
    ] {
        let Some(name) = wanted.get(field) else {
            continue;
        };
        match taken(name, names) {
            Some(name) => conflict = Some((reason, format!("{name:?} is already in use"))),
            None => accepted[field] = name.clone(),
        }
    }
    if let Some(categories) = wanted.get("categories") {
        accepted["categories"] = categories.clone();
    }
    value["status"]["acceptedNames"] = accepted;
    let now = server.timestamp();
    let is_established = condition_is_true(value, "Established");
    match conflict {
        None => {
            set_condition(
                value,
                condition("NamesAccepted", true, "NoConflicts", "no conflicts found"),
                &now,
            );
            let message = "the initial names have been accepted";
            let established = condition("Established", true, "InitialNamesAccepted", message);
            set_condition(value, established, &now);
        }
        Some((reason, message)) => {
            set_condition(
                value,
                condition("NamesAccepted", false, reason, &message),
                &now,
            );
            if !is_established {
                let message = "not all names are accepted";
                let established = condition("Established", false, "NotAccepted", message);
                set_condition(value, established, &now);
            }
        }
    }
}

/// A condition, without the time at which it came to be.
pub(super) fn condition(kind: &str, holds: bool, reason: &str, message: &str) -> Value {
    let status = if holds { "True" } else { "False" };
    json!({"type": kind, "status": status, "reason": reason, "message": message})
}

/// Sets a condition; its time moves only when its status does.
pub(super) fn set_condition(value: &mut Value, mut condition: Value, now: &str) {
    let conditions = &mut value["status"]["conditions"];
    if !conditions.is_array() {
        *conditions = json!([]);
    }
    condition["lastTransitionTime"] = json!(now);
    let Some(conditions) = conditions.as_array_mut() else {
        return;
    };
    match conditions
        .iter_mut()
        .find(|one| one["type"] == condition["type"])
    {
        Some(existing) => {
            if existing["status"] == condition["status"] {
                condition["lastTransitionTime"] = existing["lastTransitionTime"].clone();
            }
            *existing = condition;
        }
        None => conditions.push(condition),
    }
}

/// Whether a condition holds.
pub(super) fn condition_is_true(value: &Value, kind: &str) -> bool {
    let mut conditions = value["status"]["conditions"]
        .as_array()
        .into_iter()
        .flatten();
    conditions.any(|one| one["type"] == kind && one["status"] == "True")
}

#[derive(Default)]
struct Claimed {
    resources: BTreeSet<String>,
    kinds: BTreeSet<String>,
}

/// The names that the other definitions of the group have.
fn claimed(server: &Server, value: &Value) -> Claimed {
    let mut claimed = Claimed::default();
    let definitions = server.store().list(super::DEFINITIONS, None);
    let is_other = |other: &Object| {
        Some(other.name()) != value["metadata"]["name"].as_str()
            && other.value()["spec"]["group"] == value["spec"]["group"]
    };
    for other in definitions.iter().filter(|other| is_other(other)) {
        let names = &other.value()["status"]["acceptedNames"];
        let texts = |field: &str| -> Vec<String> {
            let many = names[field].as_array().into_iter().flatten();
            let one = names[field].as_str().into_iter();
            one.chain(many.filter_map(Value::as_str))
                .map(str::to_owned)
                .collect()
        };
        for field in ["plural", "singular", "shortNames"] {
            claimed.resources.extend(texts(field));
        }
        for field in ["kind", "listKind"] {
            claimed.kinds.extend(texts(field));
        }
    }
    claimed
}

/// The first of the wanted names that is taken.
fn taken(wanted: &Value, names: &BTreeSet<String>) -> Option<String> {
    let many = wanted
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str);
    let mut all = wanted.as_str().into_iter().chain(many);
    all.find(|name| !name.is_empty() && names.contains(*name))
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{condition, set_condition};

    #[test]
    fn the_time_of_a_condition_moves_with_its_status_only() {
        let mut value = json!({"status": {}});
        set_condition(&mut value, condition("A", true, "r", ""), "t1");
        set_condition(&mut value, condition("A", true, "s", ""), "t2");
        assert_eq!(value["status"]["conditions"][0]["lastTransitionTime"], "t1");
        assert_eq!(value["status"]["conditions"][0]["reason"], "s");
        set_condition(&mut value, condition("A", false, "s", ""), "t3");
        assert_eq!(value["status"]["conditions"][0]["lastTransitionTime"], "t3");
    }
}
