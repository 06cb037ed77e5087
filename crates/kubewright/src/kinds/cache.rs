//! The objects of a controller's own kind, as mappers see them.

use std::fmt;
use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kubewright_core::{GroupVersion, ObjectKey, Scope};
use kubewright_runtime::cache::{List, View};

use super::AnyKind;

/// The cached objects of a controller's own kind, for mappers.
pub struct Cache<K> {
    view: View<K>,
}

impl<K: AnyKind> Cache<K> {
    pub(crate) fn new(view: View<K>) -> Self {
        Self { view }
    }

    /// Returns the keys of all objects. None is decoded.
    pub fn keys(&self) -> Vec<ObjectKey> {
        let snapshot = self.view.informer().store().snapshot();
        snapshot.iter().map(|(key, _)| key.clone()).collect()
    }

    /// Returns an object, or `None` if it does not exist or does not decode.
    pub fn get(&self, key: &ObjectKey) -> Option<Arc<K>> {
        self.view.get(key).ok().flatten()
    }

    /// Returns the key of an object of this kind. The namespace is ignored if the kind is
    /// cluster-scoped.
    pub(super) fn key(&self, namespace: Option<&str>, name: &str) -> ObjectKey {
        match self.view.informer().spec().resource.scope {
            Scope::Cluster => ObjectKey::cluster_scoped(name),
            Scope::Namespaced => ObjectKey::new(namespace, name),
        }
    }

    /// Returns the key of the object that an owner reference in that namespace names, if it is in
    /// this cache: its group, kind and uid must match; its version need not.
    pub(super) fn owner(
        &self,
        reference: &OwnerReference,
        namespace: Option<&str>,
    ) -> Option<ObjectKey> {
        let informer = self.view.informer();
        let kind = &informer.spec().resource.kind;
        let group = GroupVersion::from_api_version(&reference.api_version).group;
        if group != kind.group() || reference.kind != kind.kind {
            return None;
        }
        let key = self.key(namespace, &reference.name);
        let present = informer.store().get(&key)?;
        (present.uid() == reference.uid).then_some(key)
    }

    /// Returns all objects; each is decoded when the iteration reaches it.
    pub fn list(&self) -> List<K> {
        self.view.list()
    }
}

impl<K> fmt::Debug for Cache<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache").finish_non_exhaustive()
    }
}
