//! Predicates over objects and events of any type: `kind::<Pod>().when(only::created())`.
//!
//! They can filter deletions out. A controller that cleans up after objects then needs a
//! [`finalizer`](crate::Controller::finalizer).

use kubewright_core::LabelSelector;
use kubewright_wire::record::Record;

use super::{AnyKind, Predicate};

/// Passes objects that match the selector before or after a change: an object that no longer
/// matches passes once more.
///
/// [`Selection::labels`](crate::controller::Selection::labels) does not read the others at all.
pub fn labelled<K: AnyKind>(selector: LabelSelector) -> Predicate<K> {
    objects(move |object| selector.matches(|label| object.label(label)))
}

/// Passes objects for which the function returns true, before or after a change.
///
/// An object that does not decode passes, so that none is missed.
pub fn by<K, F>(matters: F) -> Predicate<K>
where
    K: AnyKind,
    F: Fn(&K) -> bool + Send + Sync + 'static,
{
    objects(move |object| object.decode::<K>().map_or(true, |object| matters(&object)))
}

/// Passes creations; at the start, all objects that exist.
pub fn created<K: AnyKind>() -> Predicate<K> {
    Predicate::new(|old, _| Some(old.is_none()))
}

/// Passes objects that existed when the watch began. `!only::initial()` is for controllers that act
/// on events and not on state.
///
/// After a restart all objects are initial, whatever happened while the operator was down. Most
/// controllers therefore reconcile each of them once.
pub fn initial<K: AnyKind>() -> Predicate<K> {
    Predicate::of_events(|seen| Some(seen.is_initial))
}

/// Passes updates of objects.
pub fn updated<K: AnyKind>() -> Predicate<K> {
    Predicate::new(|old, new| Some(old.is_some() && new.is_some()))
}

/// Passes deletions.
pub fn deleted<K: AnyKind>() -> Predicate<K> {
    Predicate::new(|_, new| Some(new.is_none()))
}

fn objects<K>(matters: impl Fn(&Record) -> bool + Send + Sync + 'static) -> Predicate<K> {
    Predicate::new(move |old, new| Some(old.is_some_and(&matters) || new.is_some_and(&matters)))
}
