//! Decodes an informer's records, through the cache of decoded objects.

use std::sync::Arc;

use kubewright_core::{Kind, ObjectKey};
use kubewright_wire::record::{Record, RecordError};
use parking_lot::Mutex;
use serde::de::DeserializeOwned;

use super::decoded_cache::DecodedCache;
use super::logged_errors::LoggedErrors;
use crate::informer::MemoryBudget;
use crate::store::Store;

/// Decodes the records of one informer to one type. All views of that type share it.
pub(super) struct Decoder<K> {
    cache: DecodedCache<K>,
    logged: Mutex<LoggedErrors>,
    store: Store,
    kind: Kind,
}

/// An object in the cache that is not a `K`.
#[derive(Debug, thiserror::Error)]
#[error(
    "decode {kind} {key} at revision {resource_version} from the cache: it does not have the \
     expected type"
)]
pub struct DecodeError {
    kind: String,
    key: ObjectKey,
    resource_version: String,
    #[source]
    source: RecordError,
}

impl DecodeError {
    /// The key of the object.
    pub fn key(&self) -> &ObjectKey {
        &self.key
    }
}

impl<K: DeserializeOwned + Send + Sync + 'static> Decoder<K> {
    pub(super) fn new(budget: Arc<MemoryBudget>, store: Store, kind: Kind) -> Self {
        Self {
            cache: DecodedCache::new(budget),
            logged: Mutex::default(),
            store,
            kind,
        }
    }

    /// The cached object, or a newly decoded one, which is not cached.
    pub(super) fn read(&self, key: &ObjectKey, record: &Record) -> Result<Arc<K>, DecodeError> {
        match self.cache.find(key, record) {
            Some(object) => Ok(object),
            None => self.decode(key, record).map(Arc::new),
        }
    }

    /// The cached object, or a newly decoded one, which is then cached.
    pub(super) fn read_cached(
        &self,
        key: &ObjectKey,
        record: &Record,
    ) -> Result<Arc<K>, DecodeError> {
        if let Some(object) = self.cache.find(key, record) {
            return Ok(object);
        }
        let object = self.decode(key, record)?;
        Ok(self.cache.insert(key.clone(), record.clone(), object))
    }

    /// Whether the cache has room for all these objects beside those that are used often.
    pub(super) fn has_room_for(&self, records: &[(ObjectKey, Record)]) -> bool {
        self.cache
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
            let exists = |key: &ObjectKey| self.store.get(key).is_some();
            let mut logged = self.logged.lock();
            if logged.insert(key, resource_version, exists) {
                tracing::warn!(cause = %error.source, "{error}");
            }
            error
        })
    }
}
