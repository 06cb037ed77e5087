//! The conditions of a terminating namespace.

use std::collections::BTreeMap;
use std::sync::Arc;

use kubewright_apiserver::store::{Key, Object};
use serde_json::{Value, json};

/// An object that remains in a terminating namespace.
#[derive(Clone, Debug)]
pub(super) struct RemainingObject<'a> {
    pub(super) key: &'a Key,
    pub(super) object: Arc<Object>,
}

/// The five conditions, with the texts of
/// pkg/controller/namespace/deletion/status_condition_utils.go.
pub(super) fn deletion_conditions(remaining: &[RemainingObject<'_>], now: &str) -> Vec<Value> {
    let mut instances: BTreeMap<String, usize> = BTreeMap::new();
    let mut finalizers: BTreeMap<String, usize> = BTreeMap::new();
    for RemainingObject { key, object } in remaining {
        let resource = match key.resource() {
            name if name.contains('.') => name.to_owned(),
            core => format!("{core}."),
        };
        *instances.entry(resource).or_default() += 1;
        for finalizer in object.finalizers() {
            *finalizers.entry(finalizer.to_owned()).or_default() += 1;
        }
    }
    let condition = |kind: &str, status: &str, reason: &str, message: &str| {
        json!({
            "type": kind,
            "status": status,
            "reason": reason,
            "message": message,
            "lastTransitionTime": now,
        })
    };
    let content_remaining = format!(
        "Some resources are remaining: {}",
        listed(&instances, |name, count| format!(
            "{name} has {count} resource instances"
        ))
    );
    let finalizers_remaining = format!(
        "Some content in the namespace has finalizers remaining: {}",
        listed(&finalizers, |name, count| format!(
            "{name} in {count} resource instances"
        ))
    );
    let (status, reason, message) = if finalizers.is_empty() {
        let message = "All content-preserving finalizers finished";
        ("False", "ContentHasNoFinalizers", message)
    } else {
        (
            "True",
            "SomeFinalizersRemain",
            finalizers_remaining.as_str(),
        )
    };
    vec![
        condition(
            "NamespaceDeletionDiscoveryFailure",
            "False",
            "ResourcesDiscovered",
            "All resources successfully discovered",
        ),
        condition(
            "NamespaceDeletionGroupVersionParsingFailure",
            "False",
            "ParsedGroupVersions",
            "All legacy kube types successfully parsed",
        ),
        condition(
            "NamespaceDeletionContentFailure",
            "False",
            "ContentDeleted",
            "All content successfully deleted, may be waiting on finalization",
        ),
        condition(
            "NamespaceContentRemaining",
            "True",
            "SomeResourcesRemain",
            &content_remaining,
        ),
        condition("NamespaceFinalizersRemaining", status, reason, message),
    ]
}

fn listed(counts: &BTreeMap<String, usize>, entry: impl Fn(&str, usize) -> String) -> String {
    let entries: Vec<_> = counts
        .iter()
        .map(|(name, count)| entry(name, *count))
        .collect();
    entries.join(", ")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kubewright_apiserver::store::{Key, Object};
    use kubewright_core::Revision;
    use serde_json::json;

    use super::{RemainingObject, deletion_conditions};

    #[test]
    fn remaining_objects_and_finalizers_are_reported_as_in_kubernetes() {
        let key = Key::new("configmaps", Some("x"), "held");
        let held = json!({"metadata": {"name": "held", "finalizers": ["ex.io/hold"]}});
        let remaining = RemainingObject {
            key: &key,
            object: Arc::new(Object::new(held, Revision::new(1))),
        };
        let reported: Vec<_> = deletion_conditions(&[remaining], "T")
            .iter()
            .map(|condition| {
                let [kind, status, message] =
                    ["type", "status", "message"].map(|field| &condition[field]);
                format!("{kind} {status} {message}").replace('"', "")
            })
            .collect();
        assert_eq!(
            reported[3..],
            [
                "NamespaceContentRemaining True Some resources are remaining: configmaps. has 1 resource instances",
                "NamespaceFinalizersRemaining True Some content in the namespace has finalizers remaining: ex.io/hold in 1 resource instances",
            ]
        );
        assert_eq!(
            reported[0],
            "NamespaceDeletionDiscoveryFailure False All resources successfully discovered"
        );
    }
}
