use std::collections::BTreeSet;

use serde_json::Value;

use super::Member;
use crate::{SidecarContainer, SidecarSet};

/// The condition that says how far a roll-out is.
pub const PROGRESSING: &str = "Progressing";

/// How far a roll-out is, for a condition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Whether it goes on by itself.
    pub is_progressing: bool,
    /// One word for it.
    pub reason: &'static str,
    /// The numbers.
    pub message: String,
}

/// What a roll-out counts.
#[derive(Clone, Debug, Default)]
pub(super) struct Numbers {
    pub(super) matched: usize,
    pub(super) updated: usize,
    pub(super) updated_ready: usize,
    pub(super) not_upgradable: usize,
    pub(super) unselected: usize,
    pub(super) kept: usize,
    pub(super) waiting: usize,
    pub(super) updating: usize,
    pub(super) max_unavailable: usize,
    pub(super) is_paused: bool,
    pub(super) is_rolling: bool,
}

impl Numbers {
    pub(super) fn count(members: &[Member]) -> Self {
        let count = |is: fn(&Member) -> bool| members.iter().filter(|one| is(one)).count();
        Self {
            matched: members.len(),
            updated: count(|one| one.is_updated),
            updated_ready: count(|one| one.is_updated && one.is_ready),
            not_upgradable: count(|one| !one.is_updated && !one.is_upgradable),
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
            (self.kept, "kept as they are by partition".to_owned()),
            (
                self.unselected,
                "left out by updateStrategy.selector".to_owned(),
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
        match (self.kept, self.unselected) {
            (1.., _) => (false, "Partition"),
            (_, 1..) => (false, "Selector"),
            _ => (false, "NotUpgradable"),
        }
    }
}

/// The fields besides images that differ between two versions of a set's containers, which no
/// running Pod can take over: `a.args`.
pub fn changed_fields(old: &SidecarSet, new: &SidecarSet) -> Vec<String> {
    let mut fields = BTreeSet::new();
    let containers = |set: &SidecarSet| {
        let initial = set
            .spec
            .init_containers
            .iter()
            .filter(|one| one.is_native());
        let all: Vec<SidecarContainer> =
            set.spec.containers.iter().chain(initial).cloned().collect();
        all
    };
    let (before, after) = (containers(old), containers(new));
    for container in &after {
        let name = &container.container.name;
        let former = before.iter().find(|one| one.container.name == *name);
        let Some(former) = former else {
            fields.insert(name.clone());
            continue;
        };
        let (old, new) = (members(former), members(container));
        for key in old.keys().chain(new.keys()) {
            if key != "image" && old.get(key) != new.get(key) {
                fields.insert(format!("{name}.{key}"));
            }
        }
    }
    let is_gone = |one: &&SidecarContainer| {
        let name = &one.container.name;
        after.iter().all(|other| other.container.name != *name)
    };
    fields.extend(
        before
            .iter()
            .filter(is_gone)
            .map(|one| one.container.name.clone()),
    );
    fields.into_iter().collect()
}

fn members(container: &SidecarContainer) -> serde_json::Map<String, Value> {
    match serde_json::to_value(container) {
        Ok(Value::Object(members)) => members,
        _ => serde_json::Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::changed_fields;
    use crate::roll_out::plan::tests::set_of;

    #[test]
    fn the_fields_that_no_running_pod_can_take_over_are_named() {
        let containers = |all: serde_json::Value| set_of("i:1", json!({"containers": all}));
        let old = containers(json!([{"name": "a", "image": "i:1", "args": ["x"]}, {"name": "b"}]));
        let new = containers(json!([{"name": "a", "image": "i:2", "args": ["y"], "tty": true}]));
        assert_eq!(changed_fields(&old, &new), ["a.args", "a.tty", "b"]);
        assert!(changed_fields(&old, &old).is_empty());
    }
}
