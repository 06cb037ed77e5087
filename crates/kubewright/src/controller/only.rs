//! Which objects and events matter, whatever has changed: `kind::<Pod>().when(only::created())`.
//!
//! With these, deletions can be missed on purpose. What is to be cleaned up then needs a
//! [`finalizer`](crate::Controller::finalizer).

use kubewright_core::LabelSelector;
use kubewright_wire::record::Record;

use super::{AnyKind, Predicate};

/// Objects with such labels, before a change or after it: one that leaves the selection matters
/// once more.
///
/// [`Selection::labels`](crate::controller::Selection::labels) does not even read the others.
pub fn labelled<K: AnyKind>(selector: LabelSelector) -> Predicate<K> {
    objects(move |object| selector.matches(|label| object.label(label)))
}

/// Objects of which the function says so, before a change or after it.
///
/// An object that does not decode passes, so that nothing is missed.
pub fn by<K, F>(matters: F) -> Predicate<K>
where
    K: AnyKind,
    F: Fn(&K) -> bool + Send + Sync + 'static,
{
    objects(move |object| object.decode::<K>().map_or(true, |object| matters(&object)))
}

/// Objects that have come; at the start, all that are there.
pub fn created<K: AnyKind>() -> Predicate<K> {
    Predicate::new(|old, _| Some(old.is_none()))
}

/// Objects that were there when the operator began to watch: `!only::initial()` is for who acts on
/// what happens alone.
///
/// After a restart everything is there, whatever has happened meanwhile. For most that is the
/// reason to look at each object once.
pub fn initial<K: AnyKind>() -> Predicate<K> {
    Predicate::of_events(|seen| Some(seen.is_initial))
}

/// Objects that were there before and still are.
pub fn updated<K: AnyKind>() -> Predicate<K> {
    Predicate::new(|old, new| Some(old.is_some() && new.is_some()))
}

/// Objects that are gone.
pub fn deleted<K: AnyKind>() -> Predicate<K> {
    Predicate::new(|_, new| Some(new.is_none()))
}

fn objects<K>(matters: impl Fn(&Record) -> bool + Send + Sync + 'static) -> Predicate<K> {
    Predicate::new(move |old, new| Some(old.is_some_and(&matters) || new.is_some_and(&matters)))
}
