//! Stops work that nobody waits for any more.
//!
//! What is computed in one go, such as an expression or a long patch, cannot be stopped by dropping
//! a future. It looks here from time to time instead.

use std::cell::RefCell;

use tokio_util::sync::CancellationToken;

thread_local! {
    /// What the work on this thread is stopped by.
    static CURRENT: RefCell<Option<CancellationToken>> = const { RefCell::new(None) };
}

/// Does work that `stop` interrupts. No other work runs on this thread meanwhile.
pub(crate) fn run<T>(stop: &CancellationToken, work: impl FnOnce() -> T) -> T {
    struct Restore(Option<CancellationToken>);
    impl Drop for Restore {
        fn drop(&mut self) {
            CURRENT.set(self.0.take());
        }
    }
    let _restore = Restore(CURRENT.replace(Some(stop.clone())));
    work()
}

/// Whether the work on this thread should stop.
pub(crate) fn is_requested() -> bool {
    CURRENT.with_borrow(|stop| stop.as_ref().is_some_and(CancellationToken::is_cancelled))
}

#[cfg(test)]
mod tests {
    use tokio_util::sync::CancellationToken;

    use super::{is_requested, run};

    #[test]
    fn only_the_work_that_is_stopped_is_told_so() {
        let stop = CancellationToken::new();
        assert!(!is_requested());
        let told = run(&stop, || {
            let before = is_requested();
            stop.cancel();
            (before, is_requested())
        });
        assert_eq!(told, (false, true));
        assert!(!is_requested());
    }
}
