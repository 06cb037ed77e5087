//! The keys of stored objects.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use kubewright_kinds::BuiltinKind;

/// The key of an object: its resource (`pods`, `deployments.apps`), then `namespace/name` or, for
/// cluster-scoped kinds, `name`.
///
/// Keys sort like those of etcd, bytewise over `namespace/name`, so that lists have the order of a
/// real server.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Key {
    resource: Arc<str>,
    path: Arc<str>,
}

impl Key {
    /// The key of an object; `resource` is a
    /// [`Resource::qualified_name`](kubewright_core::Resource::qualified_name).
    pub fn new(resource: impl Into<Arc<str>>, namespace: Option<&str>, name: &str) -> Self {
        let path = match namespace {
            Some(namespace) if !namespace.is_empty() => format!("{namespace}/{name}").into(),
            _ => name.into(),
        };
        Self {
            resource: resource.into(),
            path,
        }
    }

    /// The key of an object of a built-in kind.
    pub fn of(kind: &BuiltinKind, namespace: Option<&str>, name: &str) -> Self {
        Self::new(kind.resource_id(), namespace, name)
    }

    /// Whether the object is of a built-in kind.
    pub fn is_of(&self, kind: &BuiltinKind) -> bool {
        *self.resource == *kind.resource_id()
    }

    /// A key with any path, such as the bound of a range.
    pub fn at(resource: impl Into<Arc<str>>, path: impl Into<Arc<str>>) -> Self {
        Self {
            resource: resource.into(),
            path: path.into(),
        }
    }

    /// The resource, such as `deployments.apps`.
    pub fn resource(&self) -> &str {
        &self.resource
    }

    /// `namespace/name`, or `name`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The namespace, none for cluster-scoped objects.
    pub fn namespace(&self) -> Option<&str> {
        // Names of Kubernetes objects have no slash.
        self.path.split_once('/').map(|(namespace, _)| namespace)
    }

    /// The name.
    pub fn name(&self) -> &str {
        self.path
            .split_once('/')
            .map_or(&*self.path, |(_, name)| name)
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        (&*self.resource, &*self.path).cmp(&(&*other.resource, &*other.path))
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The key in error messages of Kubernetes: `/pods/default/web`.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "/{}/{}", self.resource, self.path)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::Key;

    #[test]
    fn namespace_and_name_are_read_from_the_path() {
        let key = Key::new("pods", Some("a"), "b");
        assert_eq!((key.namespace(), key.name()), (Some("a"), "b"));
        let key = Key::new("nodes", None, "n");
        assert_eq!((key.namespace(), key.name()), (None, "n"));
    }

    #[test]
    fn order_is_bytewise_over_namespace_and_name() {
        let mut keys = [
            Key::new("pods", Some("a"), "x"),
            Key::new("pods", Some("a-b"), "x"),
            Key::new("nodes", None, "z"),
        ];
        keys.sort();
        let paths: Vec<_> = keys.iter().map(Key::path).collect();
        assert_eq!(paths, ["z", "a-b/x", "a/x"]);
    }
}
