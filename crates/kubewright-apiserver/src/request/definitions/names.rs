//! The names of a CustomResourceDefinition.

use std::collections::BTreeSet;

use kubewright_kinds::apiextensions::CUSTOM_RESOURCE_DEFINITION;
use kubewright_kinds::json::items;
use serde_json::{Value, json};

use crate::request::conditions::{ConditionStatus, condition, is_condition_true, set_condition};
use crate::store::{Object, Store};

/// Accepts the names of a definition that no other definition of its group has
/// (`calculateNamesAndConditions` of k8s.io/apiextensions-apiserver).
pub(super) fn accept_names(store: &Store, now: &str, value: &mut Value) {
    let others = claimed(store, value);
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
    let is_established = is_condition_true(value, "Established");
    match conflict {
        None => {
            set_condition(
                value,
                condition(
                    "NamesAccepted",
                    ConditionStatus::True,
                    "NoConflicts",
                    "no conflicts found",
                ),
                now,
            );
            let message = "the initial names have been accepted";
            let established = condition(
                "Established",
                ConditionStatus::True,
                "InitialNamesAccepted",
                message,
            );
            set_condition(value, established, now);
        }
        Some((reason, message)) => {
            set_condition(
                value,
                condition("NamesAccepted", ConditionStatus::False, reason, &message),
                now,
            );
            if !is_established {
                let message = "not all names are accepted";
                let established = condition(
                    "Established",
                    ConditionStatus::False,
                    "NotAccepted",
                    message,
                );
                set_condition(value, established, now);
            }
        }
    }
}

#[derive(Default)]
struct Claimed {
    resources: BTreeSet<String>,
    kinds: BTreeSet<String>,
}

/// The names of the other definitions of the group.
fn claimed(store: &Store, value: &Value) -> Claimed {
    let mut claimed = Claimed::default();
    let definitions = store.list(CUSTOM_RESOURCE_DEFINITION.resource_id(), None);
    let is_other = |other: &Object| {
        Some(other.name()) != value["metadata"]["name"].as_str()
            && other.value()["spec"]["group"] == value["spec"]["group"]
    };
    for other in definitions.iter().filter(|other| is_other(other)) {
        let names = &other.value()["status"]["acceptedNames"];
        let texts =
            |field: &str| -> Vec<String> { strings(&names[field]).map(str::to_owned).collect() };
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
    strings(wanted)
        .find(|name| !name.is_empty() && names.contains(*name))
        .map(str::to_owned)
}

/// A string, or the strings of a list.
fn strings(value: &Value) -> impl Iterator<Item = &str> {
    let listed = items(value).filter_map(Value::as_str);
    value.as_str().into_iter().chain(listed)
}
