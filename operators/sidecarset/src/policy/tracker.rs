//! The progress of the policies of sets, from a write until every API server evaluates them.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::jiff::Timestamp;
use kubewright::prelude::*;
use parking_lot::Mutex;
use tokio::time::Instant;

use super::injected_by::policy_condition;
use crate::SidecarSet;

/// How long an API server may take to load a change: it refreshes its policies once a second
/// (k8s.io/apiserver/pkg/admission/plugin/policy/generic/policy_source.go).
const PROPAGATION_TIME: Duration = Duration::from_secs(5);
/// After which time a rejected write is retried, unless the set changes before.
pub(super) const RETRY_INTERVAL: Duration = Duration::from_secs(60);

/// The progress of the policies in this process, by the uid of the set. Times are monotonic, since
/// the wall clock may jump.
#[derive(Debug, Default)]
pub(super) struct PolicyTracker {
    sets: Mutex<BTreeMap<String, State>>,
}

/// The progress of one policy.
#[derive(Debug)]
enum State {
    /// It was written, and the cache does not have it yet.
    Written,
    /// The cache has had this version since then; none means since before this process.
    Stored {
        version: PolicyVersion,
        since: Option<Instant>,
    },
    /// The API server has rejected the policy of this generation of the set.
    Rejected {
        generation: Option<i64>,
        message: String,
        since: Instant,
    },
}

/// The uids and generations of a policy and its binding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PolicyVersion([(Option<String>, Option<i64>); 2]);

impl PolicyVersion {
    pub(super) fn new(policy: &ObjectMeta, binding: &ObjectMeta) -> Self {
        Self([policy, binding].map(|metadata| (metadata.uid.clone(), metadata.generation)))
    }
}

/// What the status of a set reports from before this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Previously {
    /// The policy was effective.
    Effective,
    /// It was not, or the set has changed since.
    Unknown,
}

impl PolicyTracker {
    /// Records that the policy of a set is about to be written.
    pub(super) fn record_write(&self, set: &SidecarSet) {
        self.sets.lock().insert(uid(set), State::Written);
    }

    /// Records that the API server has rejected the policy of a set.
    pub(super) fn record_rejection(&self, set: &SidecarSet, message: &str, now: Instant) {
        let state = State::Rejected {
            generation: set.metadata.generation,
            message: message.to_owned(),
            since: now,
        };
        self.sets.lock().insert(uid(set), state);
    }

    /// Returns the rejection of the current generation of the set, until it is to be retried.
    pub(super) fn rejection(&self, set: &SidecarSet, now: Instant) -> Option<String> {
        match self.sets.lock().get(&uid(set))? {
            State::Rejected {
                generation,
                message,
                since,
            } if *generation == set.metadata.generation
                && now.duration_since(*since) < RETRY_INTERVAL =>
            {
                Some(message.clone())
            }
            _ => None,
        }
    }

    /// Whether the cluster has had this version for long enough that every API server evaluates it.
    pub(super) fn is_effective(
        &self,
        set: &SidecarSet,
        version: &PolicyVersion,
        previously: Previously,
        now: Instant,
    ) -> bool {
        let stored = |since| State::Stored {
            version: version.clone(),
            since,
        };
        let mut sets = self.sets.lock();
        let state = match sets.entry(uid(set)) {
            Entry::Vacant(vacant) => vacant.insert(match previously {
                Previously::Effective => stored(None),
                Previously::Unknown => stored(Some(now)),
            }),
            Entry::Occupied(occupied) => {
                let state = occupied.into_mut();
                let is_same =
                    matches!(&*state, State::Stored { version: known, .. } if known == version);
                if !is_same {
                    *state = stored(Some(now));
                }
                state
            }
        };
        match state {
            State::Stored { since, .. } => {
                since.is_none_or(|since| now.duration_since(since) >= PROPAGATION_TIME)
            }
            State::Written | State::Rejected { .. } => false,
        }
    }

    /// Drops the state of sets that no longer exist.
    pub(super) fn prune(&self, sets: &[Arc<SidecarSet>]) {
        let mut known = self.sets.lock();
        if known.len() > sets.len() {
            let uids: BTreeSet<String> = sets.iter().map(|set| uid(set)).collect();
            known.retain(|uid, _| uids.contains(uid));
        }
    }
}

/// Whether the condition has been false for long enough that every API server calls the webhook
/// again.
pub(super) fn is_webhook_effective(set: &SidecarSet, now: Timestamp) -> bool {
    policy_condition(set).is_some_and(|condition| {
        let elapsed = now.duration_since(condition.last_transition_time.0);
        // Zero where it is negative: the condition is from a clock that is ahead.
        let age = Duration::try_from(elapsed).unwrap_or_default();
        // More than the time, since conditions have whole seconds.
        condition.status == "False" && age > PROPAGATION_TIME
    })
}

fn uid(set: &SidecarSet) -> String {
    set.metadata.uid.clone().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
    use kubewright::prelude::ObjectMeta;
    use serde_json::json;
    use tokio::time::Instant;

    use super::{PolicyTracker, PolicyVersion, Previously, is_webhook_effective};
    use crate::inject::fixtures::set_of;
    use crate::policy::{InjectedBy, WebhookReason};
    use crate::{SidecarSet, SidecarSetStatus};

    fn set(uid: &str) -> SidecarSet {
        let mut set = set_of("s", json!({"containers": [{"name": "a"}]}));
        set.metadata.uid = Some(uid.to_owned());
        set
    }

    fn version(policy: i64, binding: i64) -> PolicyVersion {
        let metadata = |generation: i64| ObjectMeta {
            uid: Some("u".to_owned()),
            generation: Some(generation),
            ..ObjectMeta::default()
        };
        PolicyVersion::new(&metadata(policy), &metadata(binding))
    }

    #[test]
    fn policy_becomes_effective_5_seconds_after_each_change() {
        let (tracker, set) = (PolicyTracker::default(), set("1"));
        let start = Instant::now();
        let is_effective = |version: &PolicyVersion, seconds: u64| {
            let now = start + Duration::from_secs(seconds);
            tracker.is_effective(&set, version, Previously::Unknown, now)
        };
        assert!(!is_effective(&version(1, 1), 0));
        assert!(!is_effective(&version(1, 1), 4));
        assert!(is_effective(&version(1, 1), 5));
        assert!(!is_effective(&version(2, 1), 6));
        assert!(is_effective(&version(2, 1), 11));
        assert!(!is_effective(&version(2, 2), 12));
        assert!(is_effective(&version(2, 2), 17));
        tracker.record_write(&set);
        assert!(
            !is_effective(&version(2, 2), 18),
            "the cache does not have the write"
        );
    }

    #[test]
    fn policy_effective_before_the_process_stays_so_until_it_changes() {
        let (tracker, set) = (PolicyTracker::default(), set("1"));
        let now = Instant::now();
        let is_effective = |version: &PolicyVersion| {
            tracker.is_effective(&set, version, Previously::Effective, now)
        };
        assert!(is_effective(&version(1, 1)));
        assert!(!is_effective(&version(1, 2)));
        tracker.record_write(&set);
        assert!(!is_effective(&version(1, 1)));
    }

    #[test]
    fn rejection_is_kept_for_a_minute_or_until_the_set_changes() {
        let (tracker, mut set) = (PolicyTracker::default(), set("1"));
        let start = Instant::now();
        let after = |seconds: u64| start + Duration::from_secs(seconds);
        tracker.record_rejection(&set, "no", start);
        assert_eq!(tracker.rejection(&set, after(59)).as_deref(), Some("no"));
        assert_eq!(tracker.rejection(&set, after(60)), None);
        set.metadata.generation = Some(2);
        assert_eq!(tracker.rejection(&set, after(1)), None);
    }

    #[test]
    fn state_of_deleted_sets_is_dropped() {
        let tracker = PolicyTracker::default();
        let [first, second] = ["1", "2"].map(|uid| Arc::new(set(uid)));
        let now = Instant::now();
        tracker.record_rejection(&first, "no", now);
        tracker.record_rejection(&second, "no", now);
        tracker.prune(&[Arc::clone(&second)]);
        assert_eq!(tracker.rejection(&first, now), None);
        assert!(tracker.rejection(&second, now).is_some());
    }

    #[test]
    fn webhook_is_effective_again_5_seconds_after_the_condition_is_false() {
        let mut set = set("1");
        let now = "2026-01-01T00:00:10Z".parse().unwrap();
        assert!(!is_webhook_effective(&set, now));
        let webhook = InjectedBy::Webhook(WebhookReason::NotPlain("it has volumes"));
        let policy = InjectedBy::Policy("p".to_owned());
        for (injected_by, since, expected) in [
            (&webhook, "2026-01-01T00:00:05Z", false),
            (&webhook, "2026-01-01T00:00:04Z", true),
            (&policy, "2026-01-01T00:00:00Z", false),
        ] {
            let mut condition: Condition = injected_by.condition();
            condition.last_transition_time.0 = since.parse().unwrap();
            set.status = Some(SidecarSetStatus {
                conditions: vec![condition],
                ..SidecarSetStatus::default()
            });
            let is_effective = is_webhook_effective(&set, now);
            assert_eq!(is_effective, expected, "{injected_by:?} {since}");
        }
    }
}
