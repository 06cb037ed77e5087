use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use super::Regarding;

/// How many events about one object are written at once, and how often one more may follow: the
/// spam filter of client-go (tools/record/events_cache.go).
const BURST: u32 = 25;
const REFILL: Duration = Duration::from_secs(300);
/// How many objects are remembered.
const OBJECTS: usize = 4096;

/// How many events about each object may still be written.
#[derive(Debug, Default)]
pub(super) struct Budget {
    objects: BTreeMap<Regarding, Bucket>,
}

#[derive(Debug)]
struct Bucket {
    left: u32,
    /// When it was filled up to `left`.
    since: Instant,
}

impl Budget {
    /// Whether one more event about the object may be written now; it then counts.
    pub(super) fn take(&mut self, object: &Regarding) -> bool {
        let now = Instant::now();
        if self.objects.len() >= OBJECTS && !self.objects.contains_key(object) {
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

    /// Forgets the objects whose buckets are full again, or else the first.
    fn make_room(&mut self, now: Instant) {
        self.objects.retain(|_, bucket| {
            bucket.refill(now);
            bucket.left < BURST
        });
        if self.objects.len() >= OBJECTS {
            self.objects.pop_first();
        }
    }
}

impl Bucket {
    fn refill(&mut self, now: Instant) {
        let periods = now.duration_since(self.since).as_secs() / REFILL.as_secs();
        let periods = u32::try_from(periods).unwrap_or(u32::MAX);
        self.since += REFILL.saturating_mul(periods.min(BURST));
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
    async fn an_object_has_25_events_and_one_more_every_five_minutes() {
        let mut budget = Budget::default();
        let mut taken = |name: &str| (0..30).filter(|_| budget.take(&object(name))).count();
        assert_eq!(taken("a"), 25);
        assert_eq!(taken("b"), 25);
        tokio::time::advance(Duration::from_secs(299)).await;
        assert_eq!(taken("a"), 0);
        tokio::time::advance(Duration::from_secs(301)).await;
        assert_eq!(taken("a"), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn no_more_objects_are_remembered_than_there_is_room_for() {
        let mut budget = Budget::default();
        for number in 0..5000 {
            assert!(budget.take(&object(&number.to_string())));
        }
        assert_eq!(budget.objects.len(), 4096);
    }
}
