//! A list of decoded objects.

use std::fmt;
use std::sync::Arc;

use kubewright_core::ObjectKey;
use kubewright_wire::record::Record;
use serde::de::DeserializeOwned;

use super::decoder::{DecodeError, Decoder};

/// Objects at one moment, in key order.
///
/// Objects from the cache are decoded while the list is iterated; undecodable objects are left out.
/// The objects of a short list are cached. Those of a long list are not, because they would evict
/// objects that are used often. A unit test collects a list from values:
///
/// ```
/// use kubewright_runtime::cache::List;
///
/// let list: List<u8> = [1, 2].into_iter().collect();
/// assert_eq!(list.iter().map(|number| *number).sum::<u8>(), 3);
/// ```
pub struct List<K> {
    objects: Objects<K>,
}

enum Objects<K> {
    Plain(Vec<Arc<K>>),
    Cached {
        records: Vec<(ObjectKey, Record)>,
        decoder: Arc<Decoder<K>>,
        retention: Retention,
    },
}

/// What happens to objects that are decoded during an iteration.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Retention {
    /// They are cached.
    Cache,
    /// They are dropped with their last reference.
    Discard,
}

impl<K: DeserializeOwned + Send + Sync + 'static> List<K> {
    pub(super) fn cached(records: Vec<(ObjectKey, Record)>, decoder: Arc<Decoder<K>>) -> Self {
        let retention = if decoder.has_room_for(&records) {
            Retention::Cache
        } else {
            Retention::Discard
        };
        Self {
            objects: Objects::Cached {
                records,
                decoder,
                retention,
            },
        }
    }
}

impl<K> List<K> {
    /// The number of objects, undecodable objects included.
    pub fn len(&self) -> usize {
        match &self.objects {
            Objects::Plain(objects) => objects.len(),
            Objects::Cached { records, .. } => records.len(),
        }
    }

    /// Whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<K: DeserializeOwned + Send + Sync + 'static> List<K> {
    /// The objects without the undecodable ones.
    pub fn iter(&self) -> Iter<'_, K> {
        Iter {
            list: self,
            next: 0,
        }
    }

    /// The errors of the undecodable objects. Decodes all objects that are not cached.
    pub fn undecodable(&self) -> Vec<DecodeError> {
        match &self.objects {
            Objects::Plain(_) => Vec::new(),
            Objects::Cached {
                records, decoder, ..
            } => records
                .iter()
                .filter_map(|(key, record)| decoder.read(key, record).err())
                .collect(),
        }
    }
}

/// The objects of a [`List`].
pub struct Iter<'a, K> {
    list: &'a List<K>,
    next: usize,
}

impl<K: DeserializeOwned + Send + Sync + 'static> Iterator for Iter<'_, K> {
    type Item = Arc<K>;

    fn next(&mut self) -> Option<Arc<K>> {
        match &self.list.objects {
            Objects::Plain(objects) => {
                let object = objects.get(self.next)?;
                self.next += 1;
                Some(Arc::clone(object))
            }
            Objects::Cached {
                records,
                decoder,
                retention,
            } => loop {
                let (key, record) = records.get(self.next)?;
                self.next += 1;
                let object = match retention {
                    Retention::Cache => decoder.read_cached(key, record),
                    Retention::Discard => decoder.read(key, record),
                };
                if let Ok(object) = object {
                    return Some(object);
                }
            },
        }
    }
}

impl<'a, K: DeserializeOwned + Send + Sync + 'static> IntoIterator for &'a List<K> {
    type Item = Arc<K>;
    type IntoIter = Iter<'a, K>;

    fn into_iter(self) -> Iter<'a, K> {
        self.iter()
    }
}

impl<K> FromIterator<K> for List<K> {
    fn from_iter<I: IntoIterator<Item = K>>(objects: I) -> Self {
        objects.into_iter().map(Arc::new).collect()
    }
}

impl<K> FromIterator<Arc<K>> for List<K> {
    fn from_iter<I: IntoIterator<Item = Arc<K>>>(objects: I) -> Self {
        Self {
            objects: Objects::Plain(objects.into_iter().collect()),
        }
    }
}

impl<K> fmt::Debug for List<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("List")
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

impl<K> fmt::Debug for Iter<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Iter")
            .field("next", &self.next)
            .finish_non_exhaustive()
    }
}
