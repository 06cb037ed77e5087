//! Limits the rate of events about each object.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use super::Regarding;

/// The burst of events about an object, and the interval after which another one is permitted: the
/// spam filter of client-go (tools/record/events_cache.go).
const BURST: u32 = 25;
const REFILL_INTERVAL: Duration = Duration::from_secs(300);
/// The maximum number of objects with a budget.
const MAX_OBJECTS: usize = 4096;

/// The number of events about each object that may still be written.
#[derive(Debug, Default)]
pub(super) struct Budget {
    objects: BTreeMap<Regarding, Bucket>,
}

#[derive(Debug)]
struct Bucket {
    left: u32,
    /// When the bucket was last refilled.
    since: Instant,
}

impl Budget {
    /// Takes an event about the object from its budget; false when the budget is exhausted.
    pub(super) fn take(&mut self, object: &Regarding) -> bool {
        let now = Instant::now();
        if self.objects.len() >= MAX_OBJECTS && !self.objects.contains_key(object) {
            self.make_room(now);
        }
        let bucket = self.objects.entry(object.clone()).or_insert(Bucket {
            left: BURST,
            since: now,
        });
        bucket.refill(now);
        if bucket.left == 0 {
            return false;
        }
        bucket.left -= 1;
        true
    }

    /// Removes the objects whose buckets are full again, or the first object if there are none.
    fn make_room(&mut self, now: Instant) {
        self.objects.retain(|_, bucket| {
            bucket.refill(now);
            bucket.left < BURST
        });
        if self.objects.len() >= MAX_OBJECTS {
            self.objects.pop_first();
        }
    }
}

impl Bucket {
    fn refill(&mut self, now: Instant) {
        let elapsed = now.duration_since(self.since).as_secs() / REFILL_INTERVAL.as_secs();
        let periods = u32::try_from(elapsed).unwrap_or(u32::MAX);
        self.since += REFILL_INTERVAL.saturating_mul(periods.min(BURST));
        self.left = self.left.saturating_add(periods).min(BURST);
        if self.left == BURST {
            self.since = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use kubewright_core::{Kind, ObjectKey};

    use super::Budget;
    use crate::events::Regarding;

    fn object(name: &str) -> Regarding {
        let key = ObjectKey::new(Some("web"), name);
        Regarding::new(&Kind::new("", "v1", "Pod"), &key, "1")
    }

    #[tokio::test(start_paused = true)]
    async fn object_has_25_events_and_one_more_every_five_minutes() {
        let mut budget = Budget::default();
        let mut permitted = |name: &str| (0..30).filter(|_| budget.take(&object(name))).count();
        assert_eq!(permitted("a"), 25);
        assert_eq!(permitted("b"), 25);
        tokio::time::advance(Duration::from_secs(299)).await;
        assert_eq!(permitted("a"), 0);
        tokio::time::advance(Duration::from_secs(301)).await;
        assert_eq!(permitted("a"), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn number_of_objects_is_bounded() {
        let mut budget = Budget::default();
        for number in 0..5000 {
            assert!(budget.take(&object(&number.to_string())));
        }
        assert_eq!(budget.objects.len(), 4096);
    }
}
