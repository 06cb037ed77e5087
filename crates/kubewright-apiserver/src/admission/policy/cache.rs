use std::collections::BTreeMap;
use std::sync::Arc;

use kubewright_core::Revision;
use parking_lot::Mutex;

use super::stored::Policy;
use crate::store::Object;

/// By resource and name.
type Read = BTreeMap<(&'static str, String), (Revision, Arc<Policy>)>;

/// The policies that were read, with what was compiled of them, each as it is at a revision.
#[derive(Debug, Default)]
pub(crate) struct PolicyCache {
    read: Mutex<Read>,
}

impl PolicyCache {
    /// A policy of a resource, as it is stored.
    pub(super) fn policy(&self, resource: &'static str, object: &Object) -> Arc<Policy> {
        let key = (resource, object.name().to_owned());
        let mut read = self.read.lock();
        if let Some((revision, policy)) = read.get(&key)
            && *revision == object.revision()
        {
            return Arc::clone(policy);
        }
        let policy = Arc::new(Policy::read(object.name(), &object.value()["spec"]));
        read.insert(key, (object.revision(), Arc::clone(&policy)));
        policy
    }
}
