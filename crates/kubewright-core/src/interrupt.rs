//! Cancellation of synchronous work, for example after the client has disconnected.
//!
//! Work without an await point, such as evaluating an expression or applying a long patch, cannot
//! be stopped by dropping a future. It polls [`is_requested`] instead.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

thread_local! {
    /// The interrupt of the work that runs on this thread.
    static CURRENT: RefCell<Option<Interrupt>> = const { RefCell::new(None) };
}

/// Cancels the synchronous work in its scope. Clones share one flag.
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    requested: Arc<AtomicBool>,
}

impl Interrupt {
    /// Requests that the work in the scope of this interrupt stops.
    pub fn request(&self) {
        // Only the flag is shared, so that nothing has to be ordered with it.
        self.requested.store(true, Ordering::Relaxed);
    }

    /// Runs work on this thread that this interrupt can stop.
    pub fn scope<T>(&self, work: impl FnOnce() -> T) -> T {
        struct Restore(Option<Interrupt>);
        impl Drop for Restore {
            fn drop(&mut self) {
                CURRENT.set(self.0.take());
            }
        }
        let _restore = Restore(CURRENT.replace(Some(self.clone())));
        work()
    }
}

/// Whether the work on this thread should stop.
pub fn is_requested() -> bool {
    CURRENT.with_borrow(|current| {
        let interrupt = current.as_ref();
        interrupt.is_some_and(|interrupt| interrupt.requested.load(Ordering::Relaxed))
    })
}

#[cfg(test)]
mod tests {
    use super::{Interrupt, is_requested};

    #[test]
    fn interrupt_is_seen_only_in_its_scope() {
        let interrupt = Interrupt::default();
        assert!(!is_requested());
        let seen = interrupt.scope(|| {
            let before = is_requested();
            interrupt.request();
            (before, is_requested())
        });
        assert_eq!(seen, (false, true));
        assert!(!is_requested());
    }
}
