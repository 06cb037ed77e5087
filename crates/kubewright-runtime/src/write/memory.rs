use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use kubewright_core::{ObjectKey, Resource};
use kubewright_wire::record::{FieldHash, Record};
use parking_lot::Mutex;
use serde_json::{Map, Value};

/// How many objects are remembered; beyond that all are forgotten, at the cost of one more write
/// for each.
const CAPACITY: usize = 100_000;

/// What this process last sent for each object, and what the API server made of it: which field
/// set, and which resourceVersion.
///
/// Which fields an intent owns follows from the schema of its kind (a list may be a map by some
/// key), which an operator does not carry. The answer to the first apply says it.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    sent: Arc<Mutex<HashMap<u64, Sent>>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sent {
    intent: u64,
    fields: Option<FieldHash>,
    /// A hash of the text, which is opaque anyway.
    resource_version: u64,
}

/// Where the memory of one object, or of its status, is kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot(u64);

impl Slot {
    pub(super) fn new(resource: &Resource, key: &ObjectKey, subresource: &str) -> Self {
        Self(hash(&(resource, key, subresource)))
    }
}

impl Memory {
    /// Whether exactly this was sent last, and the object's own field set is still the one that
    /// followed from it.
    pub(super) fn recalls(&self, slot: Slot, body: u64, fields: Option<FieldHash>) -> bool {
        let all = self.sent.lock();
        all.get(&slot.0)
            .is_some_and(|sent| sent.intent == body && sent.fields == fields)
    }

    /// Whether exactly this was sent last, and nobody has changed the object since: the API
    /// server has already made of it whatever it makes of it, in its own spelling.
    pub(super) fn is_untouched(&self, slot: Slot, body: u64, record: &Record) -> bool {
        if record.resource_version().is_empty() {
            return false;
        }
        let resource_version = hash(&record.resource_version());
        let all = self.sent.lock();
        all.get(&slot.0)
            .is_some_and(|sent| sent.intent == body && sent.resource_version == resource_version)
    }

    /// This was sent, `fields` is what the answer says we own, and `answer` the object.
    pub(super) fn remember(
        &self,
        slot: Slot,
        body: u64,
        fields: Option<FieldHash>,
        answer: &Record,
    ) {
        let mut all = self.sent.lock();
        if all.len() >= CAPACITY {
            all.clear();
        }
        let sent = Sent {
            intent: body,
            fields,
            resource_version: hash(&answer.resource_version()),
        };
        all.insert(slot.0, sent);
    }

    /// The object is gone, or nobody knows what became of it.
    pub(super) fn forget(&self, slot: Slot) {
        self.sent.lock().remove(&slot.0);
    }
}

/// The same for equal content, whatever the order of members.
pub(super) fn content_hash(body: &Map<String, Value>) -> u64 {
    hash(body)
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
