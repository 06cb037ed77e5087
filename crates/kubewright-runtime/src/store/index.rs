//! Indexes of a store: which objects have which value.

use std::collections::BTreeMap;
use std::fmt;
use std::hash::{DefaultHasher, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use imbl::OrdMap;
use kubewright_core::ObjectKey;
use kubewright_wire::record::{Node, Record};

use crate::panic_message::panic_message;

/// Computes the values under which an index finds an object. It must depend on the object alone. An
/// object for which it panics is found under no value.
pub type IndexFunction = Arc<dyn Fn(&Record) -> Vec<String> + Send + Sync>;

/// A lookup in an index that was not added, or was removed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("look up objects by index {name:?}: there is no index with this name; add it first")]
pub struct UnknownIndex {
    pub(super) name: String,
}

/// The objects by value.
///
/// One ordered map by (hash of the value, key): an entry of 48 bytes per value and object, and no
/// set per value. Two values can share a hash, so a reader checks the object itself. The entry
/// contains the record: a lookup by key would touch more memory the more objects there are.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    values: Values,
    entries: OrdMap<(u64, ObjectKey), Record>,
}

#[derive(Clone, Default)]
enum Values {
    /// The uids of the owners.
    #[default]
    Owners,
    /// The labels, as `key=value`.
    Labels,
    By(IndexFunction),
}

impl Values {
    fn for_each(&self, record: &Record, mut each: impl FnMut(&str)) {
        match self {
            Self::Owners => record.owner_uids().for_each(each),
            Self::Labels => record
                .labels()
                .for_each(|(key, value)| each(&label_pair(key, value))),
            Self::By(function) => values(function, record)
                .iter()
                .for_each(|value| each(value)),
        }
    }
}

/// The values that a function returns. A panic must not keep other objects from the store.
fn values(function: &IndexFunction, record: &Record) -> Vec<String> {
    catch_unwind(AssertUnwindSafe(|| function(record))).unwrap_or_else(|panic| {
        let message = panic_message(panic.as_ref());
        let kind = record.root().field("kind").and_then(Node::as_text);
        tracing::error!(
            kind = kind.unwrap_or_default(),
            object = %record.key(),
            "index function panicked, the object is not indexed: {message}"
        );
        Vec::new()
    })
}

impl fmt::Debug for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Owners => "Owners",
            Self::Labels => "Labels",
            Self::By(_) => "By",
        })
    }
}

impl Index {
    fn build<'r>(
        values: Values,
        objects: impl Iterator<Item = (&'r ObjectKey, &'r Record)>,
    ) -> Self {
        let mut index = Self {
            values,
            entries: OrdMap::new(),
        };
        for (key, record) in objects {
            index.insert(key, record);
        }
        index
    }

    fn insert(&mut self, key: &ObjectKey, record: &Record) {
        let Self { values, entries } = self;
        values.for_each(record, |value| {
            entries.insert((hash(value), key.clone()), record.clone());
        });
    }

    fn remove(&mut self, key: &ObjectKey, record: &Record) {
        let Self { values, entries } = self;
        values.for_each(record, |value| {
            entries.remove(&(hash(value), key.clone()));
        });
    }

    /// The objects whose value has the same hash, in key order.
    pub(super) fn candidates(&self, value: &str) -> impl Iterator<Item = (&ObjectKey, &Record)> {
        let hash = hash(value);
        // The lowest key.
        let first = (hash, ObjectKey::cluster_scoped(""));
        self.entries
            .range(first..)
            .take_while(move |((other, _), _)| *other == hash)
            .map(|((_, key), record)| (key, record))
    }

    /// Whether the object has the value.
    pub(super) fn has(&self, record: &Record, value: &str) -> bool {
        let mut found = false;
        self.values
            .for_each(record, |other| found |= other == value);
        found
    }
}

/// The indexes of one layer: by owner, by label where enabled, and those that were added by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Indexes {
    pub(super) owners: Index,
    pub(super) labels: Option<Index>,
    named: BTreeMap<Arc<str>, Index>,
}

impl Indexes {
    pub(super) fn named(&self, name: &str) -> Result<&Index, UnknownIndex> {
        self.named.get(name).ok_or_else(|| UnknownIndex {
            name: name.to_owned(),
        })
    }

    pub(super) fn insert(&mut self, key: &ObjectKey, record: &Record) {
        self.owners.insert(key, record);
        for index in self.labels.iter_mut().chain(self.named.values_mut()) {
            index.insert(key, record);
        }
    }

    pub(super) fn remove(&mut self, key: &ObjectKey, record: &Record) {
        self.owners.remove(key, record);
        for index in self.labels.iter_mut().chain(self.named.values_mut()) {
            index.remove(key, record);
        }
    }

    pub(super) fn add<'r>(
        &mut self,
        name: &Arc<str>,
        function: &IndexFunction,
        objects: impl Iterator<Item = (&'r ObjectKey, &'r Record)>,
    ) {
        let index = Index::build(Values::By(Arc::clone(function)), objects);
        self.named.insert(Arc::clone(name), index);
    }

    pub(super) fn add_labels<'r>(
        &mut self,
        objects: impl Iterator<Item = (&'r ObjectKey, &'r Record)>,
    ) {
        if self.labels.is_none() {
            self.labels = Some(Index::build(Values::Labels, objects));
        }
    }

    pub(super) fn remove_named(&mut self, name: &str) {
        self.named.remove(name);
    }
}

/// A label as the index of labels spells it.
pub(super) fn label_pair(key: &str, value: &str) -> String {
    format!("{key}={value}")
}

fn hash(value: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(value.as_bytes());
    hasher.finish()
}
