//! The one lock of a queue. Unit tests of this crate replace it, so that loom can try every order
//! in which threads may take it: a queue in a unit test works inside `loom::model` only, and other
//! tests of it are in `tests/it`.
//!
//! It is the standard library's, unlike other locks here. What it guards is small and goes from
//! processor to processor with it, so that threads that take turns are slower than one that goes
//! on while the others sleep; and this lock lets them sleep sooner.

#[cfg(test)]
use loom::sync as threads;
#[cfg(not(test))]
use std::sync as threads;
use std::sync::PoisonError;

#[cfg_attr(
    not(test),
    expect(clippy::disallowed_types, reason = "see above; a poisoned one goes on")
)]
type Inner<T> = threads::Mutex<T>;

#[derive(Debug)]
pub(super) struct Mutex<T>(Inner<T>);

impl<T> Mutex<T> {
    pub(super) fn new(value: T) -> Self {
        Self(Inner::new(value))
    }

    pub(super) fn lock(&self) -> threads::MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
