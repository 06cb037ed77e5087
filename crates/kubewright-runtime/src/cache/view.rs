use std::fmt;
use std::sync::Arc;

use kubewright_core::{Kind, LabelSelector, ObjectKey};
use kubewright_wire::record::{Record, RecordError};
use parking_lot::Mutex;
use serde::de::DeserializeOwned;

use super::List;
use super::complaints::Complaints;
use super::decoded::Decoded;
use crate::informer::Informer;
use crate::store::{Store, UnknownIndex};

/// An informer's objects as values of type `K`: the kind's own type, or any struct with some of
/// its fields. Cloning shares what is decoded, as do all views of one informer and type.
pub struct View<K> {
    pub(super) shared: Arc<Shared<K>>,
    informer: Informer,
}

pub(super) struct Shared<K> {
    decoded: Decoded<K>,
    complaints: Mutex<Complaints>,
    store: Store,
    kind: Kind,
}

/// An object in the cache that is not a `K`.
#[derive(Debug, thiserror::Error)]
#[error(
    "read {kind} {key} at revision {resource_version} from the cache: it does not have the expected form"
)]
pub struct DecodeError {
    kind: String,
    key: ObjectKey,
    resource_version: String,
    #[source]
    source: RecordError,
}

impl DecodeError {
    /// Which object.
    pub fn key(&self) -> &ObjectKey {
        &self.key
    }
}

impl<K: DeserializeOwned + Send + Sync + 'static> View<K> {
    /// A view of the informer's objects.
    pub fn new(informer: Informer) -> Self {
        let kind = &informer.spec().resource.kind;
        let shared = informer.extension(|budget| Shared {
            decoded: Decoded::new(budget),
            complaints: Mutex::default(),
            store: informer.store().clone(),
            kind: kind.clone(),
        });
        Self { shared, informer }
    }

    /// The object of this key, own writes included.
    pub fn get(&self, key: &ObjectKey) -> Result<Option<Arc<K>>, DecodeError> {
        let Some(record) = self.informer.store().get(key) else {
            return Ok(None);
        };
        self.shared.at_hand(key, &record).map(Some)
    }

    /// All objects at this moment, decoded as they are walked.
    pub fn list(&self) -> List<K> {
        let snapshot = self.informer.store().snapshot();
        let records = snapshot
            .iter()
            .map(|(key, record)| (key.clone(), record.clone()))
            .collect();
        List::cached(records, Arc::clone(&self.shared))
    }

    /// The objects that name the owner with this uid.
    pub fn by_owner(&self, uid: &str) -> List<K> {
        let records = self.informer.store().by_owner(uid);
        List::cached(records, Arc::clone(&self.shared))
    }

    /// The objects in the namespace, or in all, whose labels match; only those are decoded.
    pub fn matching(&self, namespace: Option<&str>, labels: &LabelSelector) -> List<K> {
        let mut records = self.informer.store().matching(labels);
        if let Some(name) = namespace {
            records.retain(|(key, _)| key.namespace() == Some(name));
        }
        List::cached(records, Arc::clone(&self.shared))
    }

    /// The objects that have the value in the index of this name.
    pub fn by_index(&self, name: &str, value: &str) -> Result<List<K>, UnknownIndex> {
        let records = self.informer.store().by_index(name, value)?;
        Ok(List::cached(records, Arc::clone(&self.shared)))
    }

    /// Adds an index to the informer's store: `values` says under which values an object is found,
    /// and must depend on the object alone. An object that is not a `K`, or for which it panics, is
    /// found under none.
    ///
    /// It takes the place of one of the same name, and is there for all who use the informer. One
    /// that reads few fields costs least with a view of a struct that has only those.
    pub fn add_index(
        &self,
        name: &str,
        values: impl Fn(&K) -> Vec<String> + Send + Sync + 'static,
    ) {
        let by_record = move |record: &Record| match record.decode::<K>() {
            Ok(object) => values(&object),
            Err(_) => Vec::new(),
        };
        self.informer.store().add_index(name, Arc::new(by_record));
    }

    /// An object of an event; one that does not decode is logged once for each revision.
    pub fn decode(&self, key: &ObjectKey, record: &Record) -> Result<Arc<K>, DecodeError> {
        self.shared.walk(key, record)
    }

    /// The informer behind the view.
    pub fn informer(&self) -> &Informer {
        &self.informer
    }
}

impl<K: DeserializeOwned + Send + Sync + 'static> Shared<K> {
    /// As [`View::get`], but what is decoded anew is not kept.
    pub(super) fn walk(&self, key: &ObjectKey, record: &Record) -> Result<Arc<K>, DecodeError> {
        match self.decoded.find(key, record) {
            Some(object) => Ok(object),
            None => self.decode(key, record).map(Arc::new),
        }
    }

    /// As [`View::get`], of a record that was read before.
    pub(super) fn at_hand(&self, key: &ObjectKey, record: &Record) -> Result<Arc<K>, DecodeError> {
        if let Some(object) = self.decoded.find(key, record) {
            return Ok(object);
        }
        let object = self.decode(key, record)?;
        Ok(self.decoded.keep(key.clone(), record.clone(), object))
    }

    /// Whether so many objects can be kept beside what else is used often.
    pub(super) fn are_few(&self, records: &[(ObjectKey, Record)]) -> bool {
        self.decoded
            .has_room_for(records.iter().map(|(_, record)| record))
    }

    fn decode(&self, key: &ObjectKey, record: &Record) -> Result<K, DecodeError> {
        record.decode().map_err(|source| {
            let resource_version = record.resource_version();
            let error = DecodeError {
                kind: self.kind.kind.clone(),
                key: key.clone(),
                resource_version: resource_version.to_owned(),
                source,
            };
            let is_there = |key: &ObjectKey| self.store.get(key).is_some();
            let mut complaints = self.complaints.lock();
            if complaints.is_new(key, resource_version, is_there) {
                tracing::warn!(cause = %error.source, "{error}");
            }
            error
        })
    }
}

impl<K> Clone for View<K> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            informer: self.informer.clone(),
        }
    }
}

impl<K> fmt::Debug for View<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("View")
            .field("informer", &self.informer)
            .finish_non_exhaustive()
    }
}
