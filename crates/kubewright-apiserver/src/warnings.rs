//! Warnings for the client of a request.

use std::sync::Arc;

use parking_lot::Mutex;

/// The warnings of a request, in order. They are sent with the response, also when it is an error,
/// and duplicates are sent once. Clones share the list.
#[derive(Clone, Debug, Default)]
pub struct Warnings(Arc<Mutex<Vec<String>>>);

impl Warnings {
    pub(crate) fn add(&self, texts: impl IntoIterator<Item = String>) {
        self.0.lock().extend(texts);
    }

    /// The warnings so far.
    pub fn texts(&self) -> Vec<String> {
        self.0.lock().clone()
    }
}
