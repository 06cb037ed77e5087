//! The progress of a roll-out, in counts and as a condition.

use std::collections::BTreeSet;

use serde_json::Value;

use super::InjectedPod;
use crate::{SidecarContainer, SidecarSet};

/// The condition that reports the progress of a roll-out.
pub const PROGRESSING: &str = "Progressing";

/// The progress of a roll-out, for the condition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Whether the roll-out continues without a change of the set.
    pub is_progressing: bool,
    /// The reason of the condition.
    pub reason: &'static str,
    /// The counts.
    pub message: String,
}

/// The counts of a roll-out.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    pub(super) matched: usize,
    pub(super) updated: usize,
    pub(super) updated_ready: usize,
    pub(super) not_upgradable: usize,
    pub(super) unselected: usize,
    pub(super) kept_back: usize,
    pub(super) waiting: usize,
    pub(super) updating: usize,
    pub(super) max_unavailable: usize,
    pub(super) is_paused: bool,
    pub(super) is_rolling: bool,
}

impl Counts {
    pub(super) fn of(pods: &[InjectedPod]) -> Self {
        let count = |is: fn(&InjectedPod) -> bool| pods.iter().filter(|pod| is(pod)).count();
        Self {
            matched: pods.len(),
            updated: count(|pod| pod.is_updated),
            updated_ready: count(|pod| pod.is_updated && pod.is_ready),
            not_upgradable: count(|pod| !pod.is_updated && !pod.is_upgradable),
            ..Self::default()
        }
    }

    pub(super) fn progress(&self) -> Progress {
        let (is_progressing, reason) = self.reason();
        let mut parts = vec![format!(
            "{} of {} Pods updated, {} of them ready",
            self.updated, self.matched, self.updated_ready
        )];
        for (count, what) in [
            (self.updating, "updated now".to_owned()),
            (self.kept_back, "kept back by partition".to_owned()),
            (
                self.unselected,
                "not selected by updateStrategy.selector".to_owned(),
            ),
            (
                self.not_upgradable,
                "not upgradable: more than images changed, recreate them".to_owned(),
            ),
            (
                self.waiting,
                format!(
                    "waiting: {} updated and not ready, maxUnavailable is {}",
                    self.updated - self.updated_ready,
                    self.max_unavailable
                ),
            ),
        ] {
            if count > 0 {
                parts.push(format!("{count} {what}"));
            }
        }
        Progress {
            is_progressing,
            reason,
            message: parts.join("; "),
        }
    }

    fn reason(&self) -> (bool, &'static str) {
        if self.updated == self.matched && self.updated_ready == self.updated {
            return (false, "Complete");
        }
        if !self.is_rolling {
            return (false, "NotUpdate");
        }
        if self.is_paused {
            return (false, "Paused");
        }
        if self.updating > 0 {
            return (true, "Updating");
        }
        if self.updated_ready < self.updated {
            return (true, "WaitingForPods");
        }
        if self.waiting > 0 {
            return (true, "MaxUnavailable");
        }
        if self.kept_back > 0 {
            return (false, "Partition");
        }
        if self.unselected > 0 {
            return (false, "Selector");
        }
        (false, "NotUpgradable")
    }
}

/// Returns the fields that differ between two versions of a set's containers, such as `a.args`.
/// Images are left out, since a running Pod can be updated to another image.
pub fn changed_fields(old: &SidecarSet, new: &SidecarSet) -> Vec<String> {
    let containers = |set: &SidecarSet| -> Vec<SidecarContainer> {
        let native = set.native_sidecars();
        set.spec.containers.iter().chain(native).cloned().collect()
    };
    let (before, after) = (containers(old), containers(new));
    let mut changed = BTreeSet::new();
    for sidecar in &after {
        let name = &sidecar.container.name;
        let previous = before
            .iter()
            .find(|previous| previous.container.name == *name);
        let Some(previous) = previous else {
            changed.insert(name.clone());
            continue;
        };
        let (old_fields, new_fields) = (fields(previous), fields(sidecar));
        for key in old_fields.keys().chain(new_fields.keys()) {
            if key != "image" && old_fields.get(key) != new_fields.get(key) {
                changed.insert(format!("{name}.{key}"));
            }
        }
    }
    let names = before.iter().map(|sidecar| &sidecar.container.name);
    let removed = names.filter(|name| {
        let mut remaining = after.iter();
        remaining.all(|sidecar| sidecar.container.name != **name)
    });
    changed.extend(removed.cloned());
    changed.into_iter().collect()
}

fn fields(sidecar: &SidecarContainer) -> serde_json::Map<String, Value> {
    match serde_json::to_value(sidecar) {
        Ok(Value::Object(fields)) => fields,
        _ => serde_json::Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::changed_fields;
    use crate::roll_out::fixtures::set_of;

    #[test]
    fn changed_fields_of_containers_are_named_without_images() {
        let containers = |list: serde_json::Value| set_of("i:1", json!({"containers": list}));
        let old = containers(json!([{"name": "a", "image": "i:1", "args": ["x"]}, {"name": "b"}]));
        let new = containers(json!([{"name": "a", "image": "i:2", "args": ["y"], "tty": true}]));
        assert_eq!(changed_fields(&old, &new), ["a.args", "a.tty", "b"]);
        assert!(changed_fields(&old, &old).is_empty());
    }
}
