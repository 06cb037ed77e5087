//! The log of the most recent writes.

use std::sync::Arc;

use imbl::{OrdMap, Vector};
use kubewright_core::Revision;

use super::history::History;
use super::key::Key;
use super::object::Object;

/// One write.
#[derive(Clone, Debug)]
pub struct Change {
    /// The key of the object.
    pub key: Key,
    /// The object before; none when it is new.
    pub before: Option<Arc<Object>>,
    /// The object after; for a removal its last state, with the revision of the removal.
    pub after: Arc<Object>,
    /// The kind of the write.
    pub kind: ChangeKind,
}

/// The kinds of writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// Stored a new object.
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

    /// About the memory of both states.
    pub(super) fn weight(&self) -> usize {
        let before = self.before.as_ref().map_or(0, |before| before.weight());
        before.saturating_add(self.after.weight())
    }

    /// About the memory that only the log holds: the state before, and for a removal the last state
    /// as well.
    fn past_weight(&self) -> usize {
        match self.kind {
            ChangeKind::Deleted => self.weight(),
            ChangeKind::Added | ChangeKind::Modified => {
                self.weight().saturating_sub(self.after.weight())
            }
        }
    }
}

/// The log no longer has the requested writes. The reader has to list again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too old resource version: {requested} ({oldest})")]
pub struct Compacted {
    /// The revision after which writes were requested.
    pub requested: Revision,
    /// The oldest revision after which the log has all writes.
    pub oldest: Revision,
}

/// The most recent writes. Each write adds one entry and one revision, so that the index of an
/// entry is a difference of revisions.
#[derive(Clone, Debug)]
pub(super) struct Log {
    entries: Vector<Arc<Change>>,
    /// The revision before the first entry.
    begin: Revision,
    /// The revision of the last dropped entry of each resource: a reader of a quiet resource need
    /// not list again because of writes to others.
    dropped: OrdMap<Arc<str>, Revision>,
    /// The log never had entries before this revision.
    floor: Revision,
    /// About the memory that only the entries hold, in bytes.
    weight: usize,
    bounds: History,
}

impl Log {
    pub(super) fn new(bounds: History) -> Self {
        Self {
            entries: Vector::new(),
            begin: Revision::default(),
            dropped: OrdMap::new(),
            floor: Revision::default(),
            weight: 0,
            bounds,
        }
    }

    /// An empty log that starts after a revision.
    #[cfg(feature = "disk")]
    pub(super) fn starting_at(revision: Revision, bounds: History) -> Self {
        Self {
            begin: revision,
            floor: revision,
            ..Self::new(bounds)
        }
    }

    /// Drops all entries, and starts after a revision.
    #[cfg(feature = "disk")]
    pub(super) fn restart_at(&mut self, revision: Revision) {
        *self = Self::starting_at(revision, self.bounds);
    }

    /// Sets the earliest revision after which readers of a resource can start.
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
                self.dropped
                    .insert(oldest.key.resource().into(), oldest.revision());
            }
        }
    }

    /// The last write stays whatever its size, so that a reader that is not behind sees it.
    fn is_too_large(&self) -> bool {
        let (length, bounds) = (self.entries.len(), self.bounds);
        length > 1 && (length > bounds.writes || self.weight > bounds.bytes)
    }

    /// The entries after a revision, oldest first. With a resource, fails only if entries of that
    /// resource were dropped; the entries of others are not filtered out.
    pub(super) fn since(
        &self,
        after: Revision,
        resource: Option<&str>,
    ) -> Result<impl Iterator<Item = &Arc<Change>> + use<'_>, Compacted> {
        let oldest = match resource {
            Some(resource) => {
                let dropped = self.dropped.get(resource).copied();
                dropped.unwrap_or_default().max(self.floor)
            }
            None => self.begin,
        };
        if after < oldest {
            return Err(Compacted {
                requested: after,
                oldest,
            });
        }
        let distance = after.number().saturating_sub(self.begin.number());
        let first = usize::try_from(distance).unwrap_or(usize::MAX);
        let length = self.entries.len();
        Ok((first.min(length)..length).filter_map(|index| self.entries.get(index)))
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
            .map(|entries| entries.map(|change| change.revision().number()).collect())
            .map_err(|error| error.oldest.number())
    }

    #[test]
    fn full_log_drops_the_oldest_entries_and_reports_it() {
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
    fn quiet_resource_can_be_read_from_before_the_log() {
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
    fn log_is_limited_by_the_bytes_of_past_states() {
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
        // Each state counts as a value and as its encoded bytes.
        assert_eq!(kept.len(), 4, "{kept:?}");
        assert_eq!(since(&log, 10, Some("pods")), Err(oldest));
        assert_eq!(since(&log, 10, Some("nodes")).map(|kept| kept.len()), Ok(4));
    }

    #[test]
    fn last_write_stays_even_if_it_exceeds_the_limit() {
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
