use std::hash::{DefaultHasher, Hasher};

use imbl::OrdSet;
use kubewright_core::ObjectKey;
use kubewright_wire::record::Record;

/// Which objects name an owner, by the owner's uid.
///
/// One ordered set of (hash of the uid, key): an entry of 32 bytes per reference, and no set per
/// owner. Two uids may share a hash, so who reads compares the uids again.
#[derive(Clone, Debug, Default)]
pub(super) struct Owners {
    entries: OrdSet<(u64, ObjectKey)>,
}

impl Owners {
    pub(super) fn insert(&mut self, key: &ObjectKey, record: &Record) {
        for uid in record.owner_uids() {
            self.entries.insert((hash(uid), key.clone()));
        }
    }

    pub(super) fn remove(&mut self, key: &ObjectKey, record: &Record) {
        for uid in record.owner_uids() {
            self.entries.remove(&(hash(uid), key.clone()));
        }
    }

    /// The keys of objects that may name `uid`, in key order.
    pub(super) fn candidates(&self, uid: &str) -> impl Iterator<Item = &ObjectKey> {
        let hash = hash(uid);
        // No key is below this one.
        let first = (hash, ObjectKey::cluster_scoped(""));
        self.entries
            .range(first..)
            .take_while(move |(other, _)| *other == hash)
            .map(|(_, key)| key)
    }
}

/// Whether the object names this owner.
pub(super) fn is_owned_by(record: &Record, uid: &str) -> bool {
    record.owner_uids().any(|owner| owner == uid)
}

fn hash(uid: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(uid.as_bytes());
    hasher.finish()
}
