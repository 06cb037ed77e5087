//! The namespaces that an operator is restricted to.

use std::collections::BTreeSet;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use tokio::sync::watch;

/// Namespaces that informers or an operator are restricted to. They can change at any time. Clones
/// share them, and two sets are equal only if one is a clone of the other.
///
/// ```
/// use kubewright_runtime::NamespaceSet;
///
/// let namespaces = NamespaceSet::new(["shop"]);
/// namespaces.add("web");
/// assert!(namespaces.contains("web"));
/// namespaces.remove("shop");
/// assert!(namespaces.names().iter().eq(["web"]));
/// ```
#[derive(Clone)]
pub struct NamespaceSet {
    names: Arc<watch::Sender<BTreeSet<String>>>,
}

impl NamespaceSet {
    /// A set of these namespaces. An empty set permits no namespace.
    pub fn new<T: Into<String>>(names: impl IntoIterator<Item = T>) -> Self {
        let names = names.into_iter().map(Into::into).collect();
        Self {
            names: Arc::new(watch::Sender::new(names)),
        }
    }

    /// Adds a namespace.
    pub fn add(&self, name: impl Into<String>) {
        let name = name.into();
        self.names.send_if_modified(|names| names.insert(name));
    }

    /// Removes a namespace; informers drop its objects.
    pub fn remove(&self, name: &str) {
        self.names.send_if_modified(|names| names.remove(name));
    }

    /// Replaces all namespaces.
    pub fn replace<T: Into<String>>(&self, names: impl IntoIterator<Item = T>) {
        let names = names.into_iter().map(Into::into).collect();
        self.names.send_replace(names);
    }

    /// The current namespaces.
    pub fn names(&self) -> BTreeSet<String> {
        self.names.borrow().clone()
    }

    /// Whether the set contains the namespace.
    pub fn contains(&self, name: &str) -> bool {
        self.names.borrow().contains(name)
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<BTreeSet<String>> {
        self.names.subscribe()
    }
}

impl<T: Into<String>, const N: usize> From<[T; N]> for NamespaceSet {
    fn from(names: [T; N]) -> Self {
        Self::new(names)
    }
}

impl PartialEq for NamespaceSet {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.names, &other.names)
    }
}

impl Eq for NamespaceSet {}

impl Hash for NamespaceSet {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.names).hash(state);
    }
}

impl fmt::Debug for NamespaceSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}
