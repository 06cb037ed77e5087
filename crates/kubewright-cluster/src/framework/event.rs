//! Events before they are stored, and those that a component has stored already.

use std::collections::BTreeMap;
use std::sync::Arc;

use kubewright_apiserver::store::Key;
use parking_lot::Mutex;

/// How many recorded events a component remembers, to count repetitions instead of storing them
/// again (`maxLruCacheEntries` of client-go/tools/record).
const MAX_REMEMBERED: usize = 4096;

/// What a component records about an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NewEvent {
    /// `Normal` or `Warning`.
    pub(super) event_type: &'static str,
    pub(super) reason: &'static str,
    pub(super) message: String,
}

impl NewEvent {
    pub(crate) fn normal(reason: &'static str, message: impl Into<String>) -> Self {
        Self {
            event_type: "Normal",
            reason,
            message: message.into(),
        }
    }

    pub(crate) fn warning(reason: &'static str, message: impl Into<String>) -> Self {
        Self {
            event_type: "Warning",
            reason,
            message: message.into(),
        }
    }
}

/// The component that records events, and the stored event of each content. Clones share them.
#[derive(Clone, Debug)]
pub(super) struct EventSource {
    pub(super) component: &'static str,
    recorded: Arc<Mutex<BTreeMap<String, Key>>>,
}

impl EventSource {
    pub(super) fn new(component: &'static str) -> Self {
        Self {
            component,
            recorded: Arc::default(),
        }
    }

    /// The stored event with this content.
    pub(super) fn recorded(&self, content: &str) -> Option<Key> {
        self.recorded.lock().get(content).cloned()
    }

    pub(super) fn remember(&self, content: String, event: Key) {
        let mut recorded = self.recorded.lock();
        if recorded.len() >= MAX_REMEMBERED {
            recorded.clear();
        }
        recorded.insert(content, event);
    }
}
