//! `ObjectKey`: cluster, namespace and name of an object.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

/// The cluster that an object is in, for operators of several clusters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClusterId(u16);

impl ClusterId {
    /// The cluster with this number; 0 is the default one.
    pub const fn new(number: u16) -> Self {
        Self(number)
    }
}

/// Identifies one object of a known kind: its cluster, its namespace (none for cluster-scoped
/// kinds) and its name.
///
/// A clone shares the text, so it is cheap to put a key into queues and indexes.
///
/// ```
/// use kubewright_core::ObjectKey;
///
/// let key = ObjectKey::namespaced("default", "web");
/// assert_eq!(key.namespace(), Some("default"));
/// assert_eq!(key.to_string(), "default/web");
/// assert_eq!(ObjectKey::cluster_scoped("node-1").to_string(), "node-1");
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ObjectKey {
    cluster: ClusterId,
    /// Length of the namespace in front of `text`; 0 for cluster-scoped objects.
    split: u16,
    text: Arc<str>,
}

impl ObjectKey {
    /// The key of a namespaced object in the default cluster.
    ///
    /// An empty namespace gives the same key as [`ObjectKey::cluster_scoped`].
    pub fn namespaced(namespace: &str, name: &str) -> Self {
        // No valid namespace comes near this length; a longer one stays whole in the name, where
        // it matches nothing.
        match u16::try_from(namespace.len()) {
            Ok(split) if split > 0 => Self {
                cluster: ClusterId::default(),
                split,
                text: format!("{namespace}/{name}").into(),
            },
            Ok(_) => Self::cluster_scoped(name),
            Err(_) => Self::cluster_scoped(&format!("{namespace}/{name}")),
        }
    }

    /// The key of a cluster-scoped object in the default cluster.
    pub fn cluster_scoped(name: &str) -> Self {
        Self {
            cluster: ClusterId::default(),
            split: 0,
            text: name.into(),
        }
    }

    /// The key of an object whose namespace may be absent.
    pub fn new(namespace: Option<&str>, name: &str) -> Self {
        Self::namespaced(namespace.unwrap_or_default(), name)
    }

    /// This key in the given cluster.
    #[must_use]
    pub fn in_cluster(mut self, cluster: ClusterId) -> Self {
        self.cluster = cluster;
        self
    }

    /// The cluster that the object is in.
    pub fn cluster(&self) -> ClusterId {
        self.cluster
    }

    /// The namespace, or none for a cluster-scoped object.
    pub fn namespace(&self) -> Option<&str> {
        (self.split > 0).then(|| self.text.get(..usize::from(self.split)).unwrap_or_default())
    }

    /// The name within its namespace.
    pub fn name(&self) -> &str {
        match self.split {
            0 => &self.text,
            split => self.text.get(usize::from(split) + 1..).unwrap_or_default(),
        }
    }
}

/// By cluster, then by namespace, then by name: the order of a list of the API server.
impl Ord for ObjectKey {
    fn cmp(&self, other: &Self) -> Ordering {
        let parts = (self.cluster, self.namespace(), self.name());
        parts.cmp(&(other.cluster, other.namespace(), other.name()))
    }
}

impl PartialOrd for ObjectKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.cluster {
            ClusterId(0) => write!(f, "{}", self.text),
            ClusterId(number) => write!(f, "cluster {number}: {}", self.text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ClusterId, ObjectKey};

    #[test]
    fn key_returns_its_namespace_and_name() {
        let namespaced = ObjectKey::namespaced("kube-system", "dns");
        assert_eq!(
            (namespaced.namespace(), namespaced.name()),
            (Some("kube-system"), "dns")
        );
        let cluster_scoped = ObjectKey::cluster_scoped("a.b/c");
        assert_eq!(
            (cluster_scoped.namespace(), cluster_scoped.name()),
            (None, "a.b/c")
        );
        assert_eq!(ObjectKey::new(None, "n"), ObjectKey::cluster_scoped("n"));
    }

    #[test]
    fn namespaced_key_never_equals_a_cluster_scoped_key() {
        assert_ne!(
            ObjectKey::namespaced("a", "b"),
            ObjectKey::cluster_scoped("a/b")
        );
    }

    #[test]
    fn keys_sort_by_namespace_then_name() {
        let mut keys = [
            ("b", "a"),
            ("long", "a"),
            ("a", "z"),
            ("a-b", "a"),
            ("", "x"),
        ]
        .map(|(namespace, name)| ObjectKey::namespaced(namespace, name));
        keys.sort();
        assert_eq!(
            keys.map(|key| key.to_string()),
            ["x", "a/z", "a-b/a", "b/a", "long/a"]
        );
    }

    #[test]
    fn keys_of_two_clusters_differ() {
        let here = ObjectKey::namespaced("a", "b");
        assert_ne!(here.clone().in_cluster(ClusterId::new(1)), here);
    }
}
