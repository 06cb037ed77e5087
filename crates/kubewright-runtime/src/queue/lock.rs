//! The one lock of a queue. Unit tests of this crate build it from loom's parts, so that loom can
//! try every order in which threads may take it: a queue in a unit test works inside `loom::model`
//! only, and other tests of it are in `tests/it`.
//!
//! What it guards is small and goes from processor to processor with it, so that threads that take
//! turns are slower than one that goes on while the others sleep. Locks of common use try for some
//! microseconds before they sleep, in which a queue could be used ten times; here a thread that
//! finds it taken twice sleeps.

use std::ops::{Deref, DerefMut};
use std::sync::{PoisonError, TryLockError};

#[cfg(test)]
use loom::sync;
#[cfg(not(test))]
use std::sync;
use sync::Condvar;
use sync::atomic::{AtomicBool, Ordering, fence};

#[cfg_attr(
    not(test),
    expect(
        clippy::disallowed_types,
        reason = "loom has this one; a poisoned one goes on"
    )
)]
type Inner<T> = sync::Mutex<T>;

#[derive(Debug)]
pub(super) struct Mutex<T> {
    inner: Inner<T>,
    sleepers: Sleepers,
}

/// Threads that sleep until the lock is free.
#[derive(Debug)]
struct Sleepers {
    /// Whether whoever lets go has to wake one: somebody sleeps, and nobody who was woken is still
    /// to come.
    wanted: AtomicBool,
    count: Inner<usize>,
    free: Condvar,
}

/// The lock, taken. It is free before somebody is woken for it: fields go in their order.
pub(super) struct Guard<'m, T> {
    inner: sync::MutexGuard<'m, T>,
    _next: WakeNext<'m>,
}

struct WakeNext<'m>(&'m Sleepers);

impl<T> Mutex<T> {
    pub(super) fn new(value: T) -> Self {
        Self {
            inner: Inner::new(value),
            sleepers: Sleepers {
                wanted: AtomicBool::new(false),
                count: Inner::new(0),
                free: Condvar::new(),
            },
        }
    }

    pub(super) fn lock(&self) -> Guard<'_, T> {
        self.try_lock().unwrap_or_else(|| self.sleep())
    }

    #[cold]
    fn sleep(&self) -> Guard<'_, T> {
        let Sleepers { wanted, free, .. } = &self.sleepers;
        let mut count = self.sleepers.count();
        loop {
            *count += 1;
            wanted.store(true, Ordering::Relaxed);
            // Either whoever has the lock sees that, or it is seen here that the lock is free.
            fence(Ordering::SeqCst);
            let mut guard = self.try_lock();
            if guard.is_none() {
                count = free.wait(count).unwrap_or_else(PoisonError::into_inner);
                guard = self.try_lock();
            }
            *count -= 1;
            if let Some(guard) = guard {
                wanted.store(*count > 0, Ordering::Relaxed);
                return guard;
            }
        }
    }

    fn try_lock(&self) -> Option<Guard<'_, T>> {
        let inner = match self.inner.try_lock() {
            Ok(inner) => inner,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        let _next = WakeNext(&self.sleepers);
        Some(Guard { inner, _next })
    }
}

impl Sleepers {
    fn count(&self) -> sync::MutexGuard<'_, usize> {
        self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cold]
    fn wake_one(&self) {
        let count = self.count();
        self.wanted.store(false, Ordering::Relaxed);
        drop(count);
        self.free.notify_one();
    }
}

impl Drop for WakeNext<'_> {
    fn drop(&mut self) {
        // The counterpart of the one in `sleep`.
        fence(Ordering::SeqCst);
        if self.0.wanted.load(Ordering::Relaxed) {
            self.0.wake_one();
        }
    }
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.inner
    }
}

impl<T> DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.inner
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use loom::sync::atomic::AtomicUsize;
    use loom::thread;

    use super::Mutex;
    use crate::queue::loom_tests::{have_alone, model};

    #[test]
    fn nobody_sleeps_while_the_lock_is_free_and_two_never_have_it() {
        model(4, || {
            let lock = Arc::new(Mutex::new(AtomicUsize::new(0)));
            let others = [(); 2].map(|()| {
                let lock = Arc::clone(&lock);
                thread::spawn(move || have_alone(&lock.lock()))
            });
            have_alone(&lock.lock());
            for other in others {
                other.join().expect("no thread panics");
            }
        });
    }
}
