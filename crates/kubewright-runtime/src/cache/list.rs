use std::fmt;
use std::sync::Arc;

use kubewright_core::ObjectKey;
use kubewright_wire::record::Record;
use serde::de::DeserializeOwned;

use super::DecodeError;
use super::view::Shared;

/// Objects at one moment, in key order.
///
/// From the cache they are decoded as they are walked, and those that do not decode are left out.
/// What a short list decodes is kept at hand; a long one would push out what is used often.
/// In a plain test, collect one from values:
///
/// ```
/// use kubewright_runtime::cache::List;
///
/// let list: List<u8> = [1, 2].into_iter().collect();
/// assert_eq!(list.iter().map(|one| *one).sum::<u8>(), 3);
/// ```
pub struct List<K> {
    objects: Objects<K>,
}

enum Objects<K> {
    Plain(Vec<Arc<K>>),
    Cached {
        records: Vec<(ObjectKey, Record)>,
        shared: Arc<Shared<K>>,
        walk: Walk,
    },
}

/// What becomes of objects that are decoded on the way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Walk {
    /// They are few, and kept for the next walk.
    Keeping,
    /// They are let go.
    Passing,
}

impl<K: DeserializeOwned + Send + Sync + 'static> List<K> {
    pub(super) fn cached(records: Vec<(ObjectKey, Record)>, shared: Arc<Shared<K>>) -> Self {
        let walk = match shared.are_few(&records) {
            true => Walk::Keeping,
            false => Walk::Passing,
        };
        Self {
            objects: Objects::Cached {
                records,
                shared,
                walk,
            },
        }
    }
}

impl<K> List<K> {
    /// How many objects there are, those that do not decode included.
    pub fn len(&self) -> usize {
        match &self.objects {
            Objects::Plain(objects) => objects.len(),
            Objects::Cached { records, .. } => records.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<K: DeserializeOwned + Send + Sync + 'static> List<K> {
    /// The objects, those that do not decode left out.
    pub fn iter(&self) -> Iter<'_, K> {
        Iter {
            list: self,
            next: 0,
        }
    }

    /// The objects that do not decode, and why: decodes all that are not at hand.
    pub fn undecodable(&self) -> Vec<DecodeError> {
        match &self.objects {
            Objects::Plain(_) => Vec::new(),
            Objects::Cached {
                records, shared, ..
            } => records
                .iter()
                .filter_map(|(key, record)| shared.walk(key, record).err())
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
                shared,
                walk,
            } => loop {
                let (key, record) = records.get(self.next)?;
                self.next += 1;
                let object = match walk {
                    Walk::Keeping => shared.at_hand(key, record),
                    Walk::Passing => shared.walk(key, record),
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
