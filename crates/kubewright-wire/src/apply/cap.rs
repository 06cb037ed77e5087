//! The limit of `managedFields` entries of updates.

use std::collections::BTreeMap;

use super::managed::{Managed, ManagerId, Operation};

const MAX_UPDATERS: usize = 10;
/// The manager of merged entries, as in Kubernetes.
const ANCIENT: &str = "ancient-changes";

/// Merges the oldest entries of updates of one version into one, until at most ten are left
/// (k8s.io/apimachinery/pkg/util/managedfields/internal/capmanagers.go).
pub(super) fn cap(managed: &mut Managed) {
    let mut updaters: Vec<ManagerId> = managed
        .entries
        .keys()
        .filter(|id| id.operation == Operation::Update)
        .cloned()
        .collect();
    let mut surplus = updaters.len().saturating_sub(MAX_UPDATERS);
    if surplus == 0 {
        return;
    }
    updaters.sort_by_key(|id| {
        let time = managed.entries.get(id).and_then(|entry| entry.time);
        (time.map_or(0, |time| time.as_second()), id.clone())
    });
    let mut first_of_version: BTreeMap<String, ManagerId> = BTreeMap::new();
    for id in updaters {
        if surplus == 0 {
            return;
        }
        let Some(entry) = managed.entries.get(&id).cloned() else {
            continue;
        };
        let Some(first) = first_of_version.get(&entry.api_version).cloned() else {
            first_of_version.insert(entry.api_version.clone(), id);
            continue;
        };
        let bucket = ManagerId::new(ANCIENT, Operation::Update, &entry.api_version, "");
        if !managed.entries.contains_key(&bucket)
            && let Some(oldest) = managed.entries.remove(&first)
        {
            managed.entries.insert(bucket.clone(), oldest);
        }
        if let Some(into) = managed.entries.get_mut(&bucket) {
            into.fields = std::mem::take(&mut into.fields).union(entry.fields);
            into.time = entry.time;
        }
        if id != bucket {
            managed.entries.remove(&id);
        }
        surplus -= 1;
    }
}
