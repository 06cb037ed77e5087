//! How long a Pod that has failed stays before another takes its place.

use std::collections::BTreeMap;

use k8s_openapi::jiff::Timestamp;
use kubewright::prelude::*;

const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(15 * 60);

/// The Pods that have failed, by set, generation and node: a node that rejects its Pods would get
/// a new one at every turn.
#[derive(Debug, Default)]
pub struct FailedPods {
    waits: BTreeMap<Place, Wait>,
}

/// Where Pods fail. Another spec begins anew.
type Place = (String, i64, String);

#[derive(Debug)]
struct Wait {
    since: Timestamp,
    length: Duration,
}

impl FailedPods {
    /// How long a Pod of the set that has failed on the node has to stay.
    pub(crate) fn wait(&self, place: &Place, now: Timestamp) -> Duration {
        let wait = self.waits.get(place);
        wait.map_or(Duration::ZERO, |wait| {
            wait.length.saturating_sub(elapsed(wait.since, now))
        })
    }

    /// Notes that a failed Pod was replaced: the next one waits twice as long. A node that was
    /// well for twice the longest wait begins anew.
    pub(crate) fn note(&mut self, place: Place, now: Timestamp) {
        self.waits
            .retain(|_, wait| elapsed(wait.since, now) < LONGEST * 2);
        let former = self.waits.get(&place).map(|wait| wait.length);
        let length = former.map_or(FIRST, |former| (former * 2).min(LONGEST));
        self.waits.insert(place, Wait { since: now, length });
    }
}

fn elapsed(since: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(now.duration_since(since)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use k8s_openapi::jiff::{SignedDuration, Timestamp};

    use super::FailedPods;

    #[test]
    fn each_failure_waits_twice_as_long_up_to_a_quarter_of_an_hour() {
        let mut failed = FailedPods::default();
        let place = ("uid".to_owned(), 1, "a".to_owned());
        let mut now = Timestamp::UNIX_EPOCH;
        let mut waits = Vec::new();
        for _ in 0..12 {
            waits.push(failed.wait(&place, now).as_secs());
            now += SignedDuration::try_from(failed.wait(&place, now)).unwrap();
            failed.note(place.clone(), now);
        }
        assert_eq!(waits, [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900]);
        let elsewhere = ("uid".to_owned(), 2, "a".to_owned());
        assert_eq!(failed.wait(&elsewhere, now).as_secs(), 0);
        now += SignedDuration::from_mins(30);
        failed.note(place.clone(), now);
        assert_eq!(failed.wait(&place, now).as_secs(), 1);
    }
}
