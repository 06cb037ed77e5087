use std::sync::Arc;

use parking_lot::Mutex;

/// What the sender of a request is told besides its answer, also when it is refused, in the order
/// in which it came up; what comes up twice is told once.
#[derive(Clone, Debug, Default)]
pub struct Warnings(Arc<Mutex<Vec<String>>>);

impl Warnings {
    pub(crate) fn add(&self, texts: impl IntoIterator<Item = String>) {
        self.0.lock().extend(texts);
    }

    /// The texts so far.
    pub fn texts(&self) -> Vec<String> {
        self.0.lock().clone()
    }
}
