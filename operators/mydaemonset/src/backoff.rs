//! The backoff for failed Pods: how long one stays before it is replaced.

use std::collections::BTreeMap;

use k8s_openapi::jiff::Timestamp;
use kubewright::prelude::*;

use crate::MyDaemonSet;

const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(15 * 60);

/// The failed Pods of all sets. Without it, a node that rejects its Pods would get a new one in
/// every run.
#[derive(Debug, Default)]
pub struct FailedPodsBackoff {
    waits: BTreeMap<FailedPlace, Wait>,
}

/// Where Pods fail: a node, for one generation of one set. A new spec starts without a backoff.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FailedPlace {
    set_uid: String,
    generation: i64,
    node: String,
}

#[derive(Debug)]
struct Wait {
    since: Timestamp,
    length: Duration,
}

impl FailedPlace {
    /// Pods of the set, as it is now, on the node.
    pub(crate) fn new(set: &MyDaemonSet, node: &str) -> Self {
        Self {
            set_uid: set.uid().unwrap_or_default(),
            generation: set.metadata.generation.unwrap_or_default(),
            node: node.to_owned(),
        }
    }
}

impl FailedPodsBackoff {
    /// Returns how long a failed Pod has to stay before it is replaced.
    pub(crate) fn remaining(&self, place: &FailedPlace, now: Timestamp) -> Duration {
        self.waits.get(place).map_or(Duration::ZERO, |wait| {
            wait.length.saturating_sub(elapsed(wait.since, now))
        })
    }

    /// Records that a failed Pod was replaced: the next one waits twice as long. After twice the
    /// longest wait without a failure, the backoff starts again.
    pub(crate) fn record(&mut self, place: FailedPlace, now: Timestamp) {
        self.waits
            .retain(|_, wait| elapsed(wait.since, now) < LONGEST_WAIT * 2);
        let length = self
            .waits
            .get(&place)
            .map_or(FIRST_WAIT, |last| (last.length * 2).min(LONGEST_WAIT));
        self.waits.insert(place, Wait { since: now, length });
    }
}

/// The time since then; zero if the clock was set back.
fn elapsed(since: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(now.duration_since(since)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use k8s_openapi::jiff::{SignedDuration, Timestamp};

    use super::{FailedPlace, FailedPodsBackoff};

    fn place(generation: i64) -> FailedPlace {
        FailedPlace {
            set_uid: "uid".to_owned(),
            generation,
            node: "a".to_owned(),
        }
    }

    #[test]
    fn wait_doubles_with_each_failure_up_to_15_minutes() {
        let mut backoff = FailedPodsBackoff::default();
        let mut now = Timestamp::UNIX_EPOCH;
        let mut waits = Vec::new();
        for _ in 0..12 {
            let wait = backoff.remaining(&place(1), now);
            waits.push(wait.as_secs());
            now += SignedDuration::try_from(wait).unwrap();
            backoff.record(place(1), now);
        }
        assert_eq!(waits, [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900]);
        assert_eq!(backoff.remaining(&place(2), now).as_secs(), 0);
        now += SignedDuration::from_mins(30);
        backoff.record(place(1), now);
        assert_eq!(backoff.remaining(&place(1), now).as_secs(), 1);
    }
}
