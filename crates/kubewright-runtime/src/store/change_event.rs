//! A change of one object, with its state before and after.

use kubewright_core::ObjectKey;
use kubewright_wire::record::Record;

/// A change of one object, as the API server has delivered it.
#[derive(Clone, Debug)]
pub struct ChangeEvent {
    /// The key of the object.
    pub key: ObjectKey,
    /// The state before the change; none for a new object.
    pub old: Option<Record>,
    /// The state after the change; none for a deleted object.
    pub new: Option<Record>,
    /// Whether the object existed when the receiver subscribed.
    pub is_initial: bool,
}

impl ChangeEvent {
    /// The current state of the object, or its last state where it was deleted.
    pub fn record(&self) -> Option<&Record> {
        self.new.as_ref().or(self.old.as_ref())
    }

    /// The events that lead from one state to another. There are two where the name now belongs to
    /// another object: the deletion of the old object, then the creation of the new one.
    pub(crate) fn between(
        key: ObjectKey,
        old: Option<Record>,
        new: Option<Record>,
    ) -> impl Iterator<Item = Self> {
        let event = |key, old, new| Self {
            key,
            old,
            new,
            is_initial: false,
        };
        let (first, second) = match (old, new) {
            (Some(old), Some(new)) if old.uid() != new.uid() => (
                Some(event(key.clone(), Some(old), None)),
                Some(event(key, None, Some(new))),
            ),
            (None, None) => (None, None),
            (old, new) => (Some(event(key, old, new)), None),
        };
        first.into_iter().chain(second)
    }
}
