use std::sync::Arc;

use imbl::{OrdMap, Vector};
use kubewright_core::Revision;

use super::{History, Key, Object};

/// One write as the log keeps it.
#[derive(Clone, Debug)]
pub struct Change {
    /// Which object.
    pub key: Key,
    /// What was stored before; none when the object is new.
    pub before: Option<Arc<Object>>,
    /// What is stored now; for a removal the last state, carrying the removal's revision.
    pub after: Arc<Object>,
    /// What the write did.
    pub kind: ChangeKind,
}

/// What a write did to the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// Stored an object that was not there.
    Added,
    /// Replaced an object.
    Modified,
    /// Removed an object.
    Deleted,
}

impl Change {
    /// The revision of the write.
    pub fn revision(&self) -> Revision {
        self.after.revision()
    }

    /// About how much memory whoever holds it keeps from being freed.
    pub(super) fn weight(&self) -> usize {
        let before = self.before.as_ref().map_or(0, |before| before.weight());
        before.saturating_add(self.after.weight())
    }

    /// About how much memory the log keeps for its sake: the state it replaced, which is nowhere
    /// else any more, and of a removal the last state too.
    fn past_weight(&self) -> usize {
        match self.kind {
            ChangeKind::Deleted => self.weight(),
            ChangeKind::Added | ChangeKind::Modified => {
                self.weight().saturating_sub(self.after.weight())
            }
        }
    }
}

/// The log no longer holds what was asked for; the reader lists again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too old resource version: {asked} ({oldest})")]
pub struct Compacted {
    /// The revision the reader wanted to go on from.
    pub asked: Revision,
    /// The oldest revision from which a reader can go on.
    pub oldest: Revision,
}

/// The most recent writes. Each write makes exactly one entry and one revision, so that an entry
/// is found by subtraction.
#[derive(Clone, Debug)]
pub(super) struct Log {
    entries: Vector<Arc<Change>>,
    /// The revision before the first entry.
    begin: Revision,
    /// For each resource that lost entries the revision of the last one lost: a reader of a quiet
    /// resource need not start again because others were busy.
    lost: OrdMap<Arc<str>, Revision>,
    /// Nothing before this was ever in the log.
    floor: Revision,
    /// What the entries keep from being freed, in bytes.
    weight: usize,
    bounds: History,
}

impl Log {
    pub(super) fn new(bounds: History) -> Self {
        Self {
            entries: Vector::new(),
            begin: Revision::default(),
            lost: OrdMap::new(),
            floor: Revision::default(),
            weight: 0,
            bounds,
        }
    }

    /// A log of what comes after a revision.
    #[cfg(feature = "disk")]
    pub(super) fn starting_at(revision: Revision, bounds: History) -> Self {
        Self {
            begin: revision,
            floor: revision,
            ..Self::new(bounds)
        }
    }

    /// Forgets everything; readers go on from here.
    #[cfg(feature = "disk")]
    pub(super) fn restart_at(&mut self, revision: Revision) {
        *self = Self::starting_at(revision, self.bounds);
    }

    /// Readers of one resource go on from here at the earliest.
    pub(super) fn start_at(&mut self, revision: Revision) {
        self.floor = revision;
    }

    pub(super) fn push(&mut self, change: Arc<Change>) {
        self.weight = self.weight.saturating_add(change.past_weight());
        self.entries.push_back(change);
        while self.is_too_large() {
            if let Some(oldest) = self.entries.pop_front() {
                self.weight = self.weight.saturating_sub(oldest.past_weight());
                self.begin = oldest.revision();
                self.lost
                    .insert(oldest.key.resource().into(), oldest.revision());
            }
        }
    }

    /// The last write stays, whatever its size: those who follow closely must see it.
    fn is_too_large(&self) -> bool {
        let (length, bounds) = (self.entries.len(), self.bounds);
        length > 1 && (length > bounds.writes || self.weight > bounds.bytes)
    }

    /// Entries after `after`, oldest first, of one resource or of all.
    pub(super) fn since(
        &self,
        after: Revision,
        resource: Option<&str>,
    ) -> Result<impl Iterator<Item = &Arc<Change>> + use<'_>, Compacted> {
        let oldest = match resource {
            Some(resource) => {
                let lost = self.lost.get(resource).copied();
                lost.unwrap_or_default().max(self.floor)
            }
            None => self.begin,
        };
        if after < oldest {
            return Err(Compacted {
                asked: after,
                oldest,
            });
        }
        let skipped = after.number().saturating_sub(self.begin.number());
        let skipped = usize::try_from(skipped).unwrap_or(usize::MAX);
        let length = self.entries.len();
        Ok((skipped.min(length)..length).filter_map(|index| self.entries.get(index)))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kubewright_core::Revision;
    use serde_json::json;

    use super::{Change, ChangeKind, History, Key, Log, Object};

    fn change(resource: &str, revision: u64) -> Arc<Change> {
        Arc::new(Change {
            key: Key::new(resource, None, "a"),
            before: None,
            after: Arc::new(Object::new(json!({}), Revision::new(revision))),
            kind: ChangeKind::Added,
        })
    }

    fn since(log: &Log, after: u64, resource: Option<&str>) -> Result<Vec<u64>, u64> {
        log.since(Revision::new(after), resource)
            .map(|entries| entries.map(|one| one.revision().number()).collect())
            .map_err(|error| error.oldest.number())
    }

    #[test]
    fn a_full_log_forgets_the_oldest_and_says_so() {
        let mut log = Log::new(2.into());
        for revision in 1..=4 {
            log.push(change("pods", revision));
        }
        assert_eq!(since(&log, 2, None), Ok(vec![3, 4]));
        assert_eq!(since(&log, 4, None), Ok(vec![]));
        assert_eq!(since(&log, 9, None), Ok(vec![]));
        assert_eq!(since(&log, 1, None), Err(2));
    }

    #[test]
    fn a_quiet_resource_can_be_followed_from_before_the_log() {
        let mut log = Log::new(1.into());
        for revision in 1..=3 {
            log.push(change("pods", revision));
        }
        assert_eq!(since(&log, 1, Some("nodes")), Ok(vec![3]));
        assert_eq!(since(&log, 1, Some("pods")), Err(2));
    }

    fn rewrite(before: &Arc<Object>, size: usize, revision: u64) -> Change {
        let value = json!({"data": "x".repeat(size)});
        Change {
            key: Key::new("pods", None, "a"),
            before: Some(Arc::clone(before)),
            after: Arc::new(Object::new(value, Revision::new(revision))),
            kind: ChangeKind::Modified,
        }
    }

    #[test]
    fn large_states_leave_the_log_before_many_small_ones_would() {
        let bounds = History {
            writes: 100,
            bytes: 1_000_000,
        };
        let mut log = Log::new(bounds);
        let mut before = Arc::new(Object::new(json!({}), Revision::default()));
        for revision in 1..=50 {
            let change = rewrite(&before, 100_000, revision);
            before = Arc::clone(&change.after);
            log.push(Arc::new(change));
        }
        let oldest = since(&log, 0, None).unwrap_err();
        let kept = since(&log, oldest, None).unwrap();
        // Each state is held as a value and as the bytes it was sent as.
        assert_eq!(kept.len(), 4, "{kept:?}");
        assert_eq!(since(&log, 10, Some("pods")), Err(oldest));
        assert_eq!(since(&log, 10, Some("nodes")).map(|kept| kept.len()), Ok(4));
    }

    #[test]
    fn a_write_larger_than_the_log_may_be_is_still_seen() {
        let mut log = Log::new(History {
            writes: 100,
            bytes: 10,
        });
        let before = rewrite(
            &Arc::new(Object::new(json!({}), Revision::default())),
            100,
            1,
        );
        let after = rewrite(&before.after, 100, 2);
        log.push(Arc::new(before));
        log.push(Arc::new(after));
        assert_eq!(since(&log, 1, None), Ok(vec![2]));
    }
}
