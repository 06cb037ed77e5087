use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::jiff::Timestamp;
use kubewright::prelude::*;
use parking_lot::Mutex;
use tokio::time::Instant;

use super::way::policy_condition;
use crate::SidecarSet;

/// How long an API server may take to act on what changed: it looks for new policies once a second
/// (k8s.io/apiserver/pkg/admission/plugin/policy/generic/policy_source.go).
const SETTLED: Duration = Duration::from_secs(5);
/// How soon what was refused is tried again, unless the set changes.
pub(super) const LATER: Duration = Duration::from_secs(60);

/// What this process knows of the policies of sets, by the uid of the set. Its times are no wall
/// clock's, which may jump.
#[derive(Debug, Default)]
pub(super) struct Memory {
    sets: Mutex<BTreeMap<String, State>>,
}

/// How far the policy of a set is.
#[derive(Debug)]
enum State {
    /// It was written, and what came of it is not seen yet.
    Written,
    /// It is so since then; none: since before this process.
    Seen { mark: Mark, since: Option<Instant> },
    /// The API server did not take that of this generation of the set.
    Refused {
        generation: Option<i64>,
        why: String,
        since: Instant,
    },
}

/// A policy and its binding as they are: their uids and generations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mark([(Option<String>, Option<i64>); 2]);

impl Mark {
    pub(super) fn of(policy: &ObjectMeta, binding: &ObjectMeta) -> Self {
        Self([policy, binding].map(|one| (one.uid.clone(), one.generation)))
    }
}

/// What the status of a set says of the time before this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Before {
    /// The policy acted.
    Acted,
    /// It did not, or not on the set as it is.
    Unknown,
}

impl Memory {
    /// The policy of a set is about to be written.
    pub(super) fn writes(&self, set: &SidecarSet) {
        self.sets.lock().insert(uid(set), State::Written);
    }

    /// The policy of a set was refused.
    pub(super) fn refused(&self, set: &SidecarSet, why: &str, now: Instant) {
        let state = State::Refused {
            generation: set.metadata.generation,
            why: why.to_owned(),
            since: now,
        };
        self.sets.lock().insert(uid(set), state);
    }

    /// Why the policy of the set as it is was refused, for as long as it need not be tried again.
    pub(super) fn refusal(&self, set: &SidecarSet, now: Instant) -> Option<String> {
        match self.sets.lock().get(&uid(set))? {
            State::Refused {
                generation,
                why,
                since,
            } if *generation == set.metadata.generation && now.duration_since(*since) < LATER => {
                Some(why.clone())
            }
            _ => None,
        }
    }

    /// Whether policy and binding are what they are for so long that every API server acts on
    /// them.
    pub(super) fn is_settled(
        &self,
        set: &SidecarSet,
        mark: &Mark,
        before: Before,
        now: Instant,
    ) -> bool {
        let seen = |since| State::Seen {
            mark: mark.clone(),
            since,
        };
        let mut sets = self.sets.lock();
        let state = match sets.entry(uid(set)) {
            Entry::Vacant(new) => new.insert(match before {
                Before::Acted => seen(None),
                Before::Unknown => seen(Some(now)),
            }),
            Entry::Occupied(known) => {
                let state = known.into_mut();
                let is_same = matches!(&*state, State::Seen { mark: known, .. } if known == mark);
                if !is_same {
                    *state = seen(Some(now));
                }
                state
            }
        };
        match state {
            State::Seen { since, .. } => {
                since.is_none_or(|since| now.duration_since(since) >= SETTLED)
            }
            State::Written | State::Refused { .. } => false,
        }
    }

    /// Forgets sets that are gone.
    pub(super) fn prune(&self, sets: &[Arc<SidecarSet>]) {
        let mut known = self.sets.lock();
        if known.len() > sets.len() {
            let uids: BTreeSet<String> = sets.iter().map(|set| uid(set)).collect();
            known.retain(|uid, _| uids.contains(uid));
        }
    }
}

/// Whether the condition says for so long that no policy injects that every API server asks the
/// webhook again.
pub(super) fn is_left_to_the_webhook(set: &SidecarSet, now: Timestamp) -> bool {
    policy_condition(set).is_some_and(|one| {
        let age = now.duration_since(one.last_transition_time.0);
        // Conditions have whole seconds.
        let age = Duration::try_from(age).unwrap_or_default();
        one.status == "False" && age > SETTLED
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

    use super::{Before, Mark, Memory, is_left_to_the_webhook};
    use crate::inject::tests::set_of;
    use crate::policy::{Reason, Way};
    use crate::{SidecarSet, SidecarSetStatus};

    fn set(uid: &str) -> SidecarSet {
        let mut set = set_of("s", json!({"containers": [{"name": "a"}]}));
        set.metadata.uid = Some(uid.to_owned());
        set
    }

    fn mark(policy: i64, binding: i64) -> Mark {
        let meta = |generation: i64| ObjectMeta {
            uid: Some("u".to_owned()),
            generation: Some(generation),
            ..ObjectMeta::default()
        };
        Mark::of(&meta(policy), &meta(binding))
    }

    #[test]
    fn a_policy_settles_anew_after_each_change_of_it_or_its_binding() {
        let (memory, set) = (Memory::default(), set("1"));
        let start = Instant::now();
        let settled = |mark: &Mark, seconds: u64| {
            let now = start + Duration::from_secs(seconds);
            memory.is_settled(&set, mark, Before::Unknown, now)
        };
        assert!(!settled(&mark(1, 1), 0));
        assert!(!settled(&mark(1, 1), 4));
        assert!(settled(&mark(1, 1), 5));
        assert!(!settled(&mark(2, 1), 6));
        assert!(settled(&mark(2, 1), 11));
        assert!(!settled(&mark(2, 2), 12));
        assert!(settled(&mark(2, 2), 17));
        memory.writes(&set);
        assert!(
            !settled(&mark(2, 2), 18),
            "the cache has not seen the write"
        );
    }

    #[test]
    fn what_acted_before_the_process_acts_until_it_changes() {
        let (memory, set) = (Memory::default(), set("1"));
        let now = Instant::now();
        let settled = |mark: &Mark| memory.is_settled(&set, mark, Before::Acted, now);
        assert!(settled(&mark(1, 1)));
        assert!(!settled(&mark(1, 2)));
        memory.writes(&set);
        assert!(!settled(&mark(1, 1)));
    }

    #[test]
    fn a_refusal_holds_for_a_minute_or_until_the_set_changes() {
        let (memory, mut set) = (Memory::default(), set("1"));
        let start = Instant::now();
        let after = |seconds: u64| start + Duration::from_secs(seconds);
        memory.refused(&set, "no", start);
        assert_eq!(memory.refusal(&set, after(59)).as_deref(), Some("no"));
        assert_eq!(memory.refusal(&set, after(60)), None);
        set.metadata.generation = Some(2);
        assert_eq!(memory.refusal(&set, after(1)), None);
    }

    #[test]
    fn sets_that_are_gone_are_forgotten() {
        let memory = Memory::default();
        let [one, two] = ["1", "2"].map(|uid| Arc::new(set(uid)));
        let now = Instant::now();
        memory.refused(&one, "no", now);
        memory.refused(&two, "no", now);
        memory.prune(&[Arc::clone(&two)]);
        assert_eq!(memory.refusal(&one, now), None);
        assert!(memory.refusal(&two, now).is_some());
    }

    #[test]
    fn the_webhook_has_the_pods_again_some_seconds_after_the_condition_says_so() {
        let mut set = set("1");
        let now = "2026-01-01T00:00:10Z".parse().unwrap();
        assert!(!is_left_to_the_webhook(&set, now));
        let webhook = Way::Webhook(Reason::NotPlain("it has volumes"));
        let policy = Way::Policy("p".to_owned());
        for (way, since, wanted) in [
            (&webhook, "2026-01-01T00:00:05Z", false),
            (&webhook, "2026-01-01T00:00:04Z", true),
            (&policy, "2026-01-01T00:00:00Z", false),
        ] {
            let mut condition: Condition = way.condition();
            condition.last_transition_time.0 = since.parse().unwrap();
            set.status = Some(SidecarSetStatus {
                conditions: vec![condition],
                ..SidecarSetStatus::default()
            });
            assert_eq!(is_left_to_the_webhook(&set, now), wanted, "{way:?} {since}");
        }
    }
}
