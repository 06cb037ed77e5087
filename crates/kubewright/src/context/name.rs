//! The name of an object in a call of the context.

use kubewright_core::{ObjectKey, Scope};

/// The name of an object: `"name"` in the namespace of the reconciled object,
/// `("namespace", "name")`, or an [`ObjectKey`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name<'a> {
    namespace: Option<&'a str>,
    name: &'a str,
}

impl Name<'_> {
    /// Returns the key. `own` is the namespace of a name without one.
    pub(super) fn key(self, scope: Scope, own: Option<&str>) -> ObjectKey {
        match scope {
            Scope::Cluster => ObjectKey::cluster_scoped(self.name),
            Scope::Namespaced => ObjectKey::new(self.namespace.or(own), self.name),
        }
    }
}

impl<'a> From<&'a str> for Name<'a> {
    fn from(name: &'a str) -> Self {
        Self {
            namespace: None,
            name,
        }
    }
}

impl<'a> From<&'a String> for Name<'a> {
    fn from(name: &'a String) -> Self {
        Self::from(name.as_str())
    }
}

impl<'a> From<(&'a str, &'a str)> for Name<'a> {
    fn from((namespace, name): (&'a str, &'a str)) -> Self {
        Self {
            namespace: Some(namespace),
            name,
        }
    }
}

impl<'a> From<&'a ObjectKey> for Name<'a> {
    fn from(key: &'a ObjectKey) -> Self {
        Self {
            namespace: key.namespace(),
            name: key.name(),
        }
    }
}
