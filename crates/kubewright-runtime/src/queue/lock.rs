//! The one lock of a queue. Unit tests of this crate replace it, so that loom can try every order
//! in which threads may take it: a queue in a unit test works inside `loom::model` only, and other
//! tests of it are in `tests/it`.

#[cfg(not(test))]
pub(super) use parking_lot::Mutex;

#[cfg(test)]
pub(super) use checked::Mutex;

#[cfg(test)]
mod checked {
    use loom::sync::MutexGuard;

    #[derive(Debug)]
    pub(in crate::queue) struct Mutex<T>(loom::sync::Mutex<T>);

    impl<T> Mutex<T> {
        pub(in crate::queue) fn new(value: T) -> Self {
            Self(loom::sync::Mutex::new(value))
        }

        pub(in crate::queue) fn lock(&self) -> MutexGuard<'_, T> {
            self.0.lock().expect("no thread panics with the lock")
        }
    }
}
