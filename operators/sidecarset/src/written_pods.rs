//! The Pods that this process has written and that the cache does not have yet.

use std::collections::HashMap;

use kubewright::ObjectKey;
use kubewright::prelude::*;
use parking_lot::Mutex;

/// The responses to writes of Pods, until the cache has them. A plan from the cache alone would
/// update one Pod too many.
#[derive(Debug, Default)]
pub(crate) struct WrittenPods {
    pods: Mutex<HashMap<ObjectKey, Arc<Pod>>>,
}

impl WrittenPods {
    /// Records the response to a write.
    pub(crate) fn record(&self, pod: Pod) {
        self.pods.lock().insert(key(&pod), Arc::new(pod));
    }

    /// Returns the newer one of the cached Pod and the last response. A response that the cache has
    /// reached is dropped.
    pub(crate) fn newest(&self, cached: Arc<Pod>) -> Arc<Pod> {
        let mut pods = self.pods.lock();
        if pods.is_empty() {
            return cached;
        }
        let key = key(&cached);
        let Some(written) = pods.get(&key) else {
            return cached;
        };
        let is_newer = written.metadata.uid == cached.metadata.uid
            && resource_version(written) > resource_version(&cached);
        if is_newer {
            return Arc::clone(written);
        }
        pods.remove(&key);
        cached
    }

    /// Drops the response for a Pod that was deleted, or that another client has changed since.
    pub(crate) fn forget(&self, pod: &Pod) {
        self.pods.lock().remove(&key(pod));
    }
}

fn key(pod: &Pod) -> ObjectKey {
    ObjectKey::new(pod.metadata.namespace.as_deref(), &pod.name_any())
}

/// Resource versions are numbers that grow since Kubernetes 1.35; one that is not a number counts
/// as the oldest.
fn resource_version(pod: &Pod) -> u64 {
    let version = pod.metadata.resource_version.as_deref();
    version
        .and_then(|text| text.parse().ok())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kubewright::prelude::*;
    use serde_json::json;

    use super::WrittenPods;

    fn pod(uid: &str, resource_version: &str) -> Pod {
        let pod = json!({"metadata": {"name": "p", "namespace": "n", "uid": uid,
            "resourceVersion": resource_version}});
        serde_json::from_value(pod).unwrap()
    }

    #[test]
    fn response_is_used_until_the_cache_has_reached_it() {
        let written = WrittenPods::default();
        written.record(pod("u", "10"));
        let newest = |uid: &str, cached: &str| {
            let newest = written.newest(Arc::new(pod(uid, cached)));
            newest.metadata.resource_version.clone().unwrap()
        };
        assert_eq!(newest("u", "9"), "10");
        assert_eq!(newest("u", "9"), "10");
        assert_eq!(newest("u", "10"), "10");
        assert_eq!(newest("u", "9"), "9");
        written.record(pod("u", "10"));
        assert_eq!(newest("other", "9"), "9");
        written.record(pod("u", "10"));
        written.forget(&pod("u", "1"));
        assert_eq!(newest("u", "9"), "9");
    }
}
