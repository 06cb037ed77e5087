use std::fmt;
use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kubewright_core::{GroupVersion, ObjectKey, Scope};
use kubewright_runtime::cache::{List, View};

use super::AnyKind;

/// The objects of a controller's own kind, for mappers.
pub struct Cache<K> {
    view: View<K>,
}

impl<K: AnyKind> Cache<K> {
    pub(crate) fn new(view: View<K>) -> Self {
        Self { view }
    }

    /// The keys of all objects; nothing is decoded.
    pub fn keys(&self) -> Vec<ObjectKey> {
        let snapshot = self.view.informer().store().snapshot();
        snapshot.iter().map(|(key, _)| key.clone()).collect()
    }

    /// One object; none when it is not there or does not decode.
    pub fn get(&self, key: &ObjectKey) -> Option<Arc<K>> {
        self.view.get(key).ok().flatten()
    }

    /// The key of an object of this kind, of that namespace where the kind is in one.
    pub(super) fn key(&self, namespace: Option<&str>, name: &str) -> ObjectKey {
        match self.view.informer().spec().resource.scope {
            Scope::Cluster => ObjectKey::cluster_scoped(name),
            Scope::Namespaced => ObjectKey::new(namespace, name),
        }
    }

    /// The object that an owner reference in that namespace names, if it is one of these: of the
    /// same kind in whatever version, and with the same uid.
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

    /// All objects, decoded as they are walked.
    pub fn list(&self) -> List<K> {
        self.view.list()
    }
}

impl<K> fmt::Debug for Cache<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache").finish_non_exhaustive()
    }
}
