//! The mutex of a queue. Unit tests build it from the types of loom, so that loom can try every order
//! in which threads can take it: a queue in a unit test works only inside `loom::model`. The other
//! tests of the queue are in `tests/it`.
//!
//! The protected data is small and moves between processors together with the lock. So threads that
//! alternate are slower than one thread that continues while the others sleep. Common mutexes spin
//! for some microseconds before a thread sleeps, in which a queue could be used ten times; here a
//! thread that finds the mutex locked twice sleeps.

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
        reason = "loom has this type; poison is ignored"
    )
)]
type Inner<T> = sync::Mutex<T>;

#[derive(Debug)]
pub(super) struct Mutex<T> {
    inner: Inner<T>,
    sleepers: Sleepers,
}

/// The threads that sleep until the mutex is unlocked.
#[derive(Debug)]
struct Sleepers {
    /// Whether an unlock must wake a thread: there are sleeping threads, and none of them has been
    /// woken without having tried the lock yet.
    must_wake: AtomicBool,
    count: Inner<usize>,
    unlocked: Condvar,
}

/// The locked mutex. Fields are dropped in their order, so that the mutex is unlocked before a thread
/// is woken.
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
                must_wake: AtomicBool::new(false),
                count: Inner::new(0),
                unlocked: Condvar::new(),
            },
        }
    }

    pub(super) fn lock(&self) -> Guard<'_, T> {
        self.try_lock().unwrap_or_else(|| self.sleep())
    }

    #[cold]
    fn sleep(&self) -> Guard<'_, T> {
        let Sleepers {
            must_wake,
            unlocked,
            ..
        } = &self.sleepers;
        let mut count = self.sleepers.count();
        loop {
            *count += 1;
            must_wake.store(true, Ordering::Relaxed);
            // Either the thread that unlocks sees the flag, or this thread sees the unlocked mutex.
            fence(Ordering::SeqCst);
            let mut guard = self.try_lock();
            if guard.is_none() {
                count = unlocked.wait(count).unwrap_or_else(PoisonError::into_inner);
                guard = self.try_lock();
            }
            *count -= 1;
            if let Some(guard) = guard {
                must_wake.store(*count > 0, Ordering::Relaxed);
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
        self.must_wake.store(false, Ordering::Relaxed);
        drop(count);
        self.unlocked.notify_one();
    }
}

impl Drop for WakeNext<'_> {
    fn drop(&mut self) {
        // Pairs with the fence in `sleep`.
        fence(Ordering::SeqCst);
        if self.0.must_wake.load(Ordering::Relaxed) {
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
    use crate::queue::loom_tests::{assert_exclusive, model};

    #[test]
    fn threads_exclude_each_other_and_none_sleeps_while_the_mutex_is_unlocked() {
        model(4, || {
            let lock = Arc::new(Mutex::new(AtomicUsize::new(0)));
            let others = [(); 2].map(|()| {
                let lock = Arc::clone(&lock);
                thread::spawn(move || assert_exclusive(&lock.lock()))
            });
            assert_exclusive(&lock.lock());
            for other in others {
                other.join().expect("no thread panics");
            }
        });
    }
}
