//! Remembers the last write of each object, to skip writes that change nothing.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use kubewright_core::{ObjectKey, Resource};
use kubewright_wire::record::{FieldHash, Record};
use parking_lot::Mutex;
use serde_json::{Map, Value};

/// The maximum number of entries. At the limit all are removed, at the cost of one more write for
/// each object.
const CAPACITY: usize = 100_000;

/// The last write of this process to each object, with the field set and the resourceVersion of the
/// response.
///
/// The fields that an intent owns depend on the schema of its kind (a list can be a map by some
/// key), which an operator does not have. The response to the first apply contains them.
#[derive(Clone, Debug, Default)]
pub(super) struct LastWrites {
    writes: Arc<Mutex<HashMap<u64, LastWrite>>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LastWrite {
    body: u64,
    fields: Option<FieldHash>,
    /// The hash of the resourceVersion, which is only compared.
    resource_version: u64,
}

/// The entry of an object, or of its status.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot(u64);

impl Slot {
    pub(super) fn new(resource: &Resource, key: &ObjectKey, subresource: &str) -> Self {
        Self(hash(&(resource, key, subresource)))
    }
}

impl LastWrites {
    /// Whether the last write had this body, and the manager still owns the same fields as after
    /// that write.
    pub(super) fn has_same_fields(&self, slot: Slot, body: u64, fields: Option<FieldHash>) -> bool {
        let writes = self.writes.lock();
        writes
            .get(&slot.0)
            .is_some_and(|write| write.body == body && write.fields == fields)
    }

    /// Whether the last write had this body, and the object has not changed since. The values of
    /// the object can differ from the body where the API server normalizes them.
    pub(super) fn is_unchanged(&self, slot: Slot, body: u64, record: &Record) -> bool {
        if record.resource_version().is_empty() {
            return false;
        }
        let resource_version = hash(&record.resource_version());
        let writes = self.writes.lock();
        writes
            .get(&slot.0)
            .is_some_and(|write| write.body == body && write.resource_version == resource_version)
    }

    /// Records a write. `fields` are the fields that the manager owns in the response.
    pub(super) fn insert(
        &self,
        slot: Slot,
        body: u64,
        fields: Option<FieldHash>,
        response: &Record,
    ) {
        let mut writes = self.writes.lock();
        if writes.len() >= CAPACITY {
            writes.clear();
        }
        let write = LastWrite {
            body,
            fields,
            resource_version: hash(&response.resource_version()),
        };
        writes.insert(slot.0, write);
    }

    /// Removes the entry of an object that was deleted, or whose state is unknown.
    pub(super) fn remove(&self, slot: Slot) {
        self.writes.lock().remove(&slot.0);
    }
}

/// A hash of the content that does not depend on the order of members.
pub(super) fn content_hash(body: &Map<String, Value>) -> u64 {
    hash(body)
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
