//! The objects of a store at one revision.

use std::fmt;
use std::ops::Bound;
use std::sync::Arc;

use imbl::OrdMap;
use kubewright_core::Revision;

use super::key::Key;
use super::object::Object;

/// All objects at one revision. Taking a snapshot is cheap and blocks no writer.
#[derive(Clone)]
pub struct Snapshot {
    pub(super) objects: OrdMap<Key, Arc<Object>>,
    pub(super) revision: Revision,
    pub(super) latest: OrdMap<Arc<str>, Revision>,
}

impl Snapshot {
    /// The revision of the last write in it.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// The revision of the last write to a resource (`deployments.apps`); zero when there was none.
    /// What was computed from the objects of the resource is valid until this changes.
    pub fn last_change(&self, resource: &str) -> Revision {
        self.latest.get(resource).copied().unwrap_or_default()
    }

    /// The object at that key.
    pub fn get(&self, key: &Key) -> Option<&Arc<Object>> {
        self.objects.get(key)
    }

    /// All objects in key order.
    pub fn iter(&self) -> impl Iterator<Item = (&Key, &Arc<Object>)> {
        self.objects.iter()
    }

    /// The objects of a resource (`deployments.apps`), of one namespace or of all, in key order.
    pub fn list<'a>(
        &'a self,
        resource: &str,
        namespace: Option<&str>,
    ) -> impl Iterator<Item = &'a Arc<Object>> + use<'a> {
        self.range(resource, namespace, None)
            .map(|(_, object)| object)
    }

    /// Like [`Snapshot::list`], with the keys, and beginning with the path `start`.
    pub(crate) fn range<'a>(
        &'a self,
        resource: &str,
        namespace: Option<&str>,
        start: Option<&str>,
    ) -> impl Iterator<Item = (&'a Key, &'a Arc<Object>)> + use<'a> {
        let prefix = namespace.map(|namespace| format!("{namespace}/"));
        let first = match (start, &prefix) {
            (Some(start), _) => start.to_owned(),
            (None, Some(prefix)) => prefix.clone(),
            (None, None) => String::new(),
        };
        let resource: Arc<str> = resource.into();
        let from = Bound::Included(Key::at(Arc::clone(&resource), first));
        self.objects
            .range((from, Bound::Unbounded))
            .take_while(move |(key, _)| {
                let has_prefix = |prefix: &String| key.path().starts_with(prefix.as_str());
                key.resource() == &*resource && prefix.as_ref().is_none_or(has_prefix)
            })
    }
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot")
            .field("revision", &self.revision)
            .field("objects", &self.objects.len())
            .finish()
    }
}
