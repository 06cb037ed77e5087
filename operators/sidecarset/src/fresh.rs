use std::collections::HashMap;

use kubewright::ObjectKey;
use kubewright::prelude::*;
use parking_lot::Mutex;

/// The answers to writes of Pods that the cache has not seen yet: a plan that did not know of them
/// would update one Pod too many.
#[derive(Debug, Default)]
pub(crate) struct Fresh {
    pods: Mutex<HashMap<ObjectKey, Arc<Pod>>>,
}

impl Fresh {
    /// Remembers the answer to a write.
    pub(crate) fn remember(&self, pod: Pod) {
        self.pods.lock().insert(key(&pod), Arc::new(pod));
    }

    /// The Pod as it is known to be; what the cache has seen is forgotten.
    pub(crate) fn newest(&self, cached: Arc<Pod>) -> Arc<Pod> {
        let mut pods = self.pods.lock();
        if pods.is_empty() {
            return cached;
        }
        let key = key(&cached);
        let Some(written) = pods.get(&key) else {
            return cached;
        };
        let is_newer =
            written.metadata.uid == cached.metadata.uid && revision(written) > revision(&cached);
        if is_newer {
            return Arc::clone(written);
        }
        pods.remove(&key);
        cached
    }

    /// Forgets a Pod that is gone.
    pub(crate) fn forget(&self, pod: &Pod) {
        self.pods.lock().remove(&key(pod));
    }
}

fn key(pod: &Pod) -> ObjectKey {
    ObjectKey::new(pod.metadata.namespace.as_deref(), &pod.name_any())
}

/// Revisions are numbers since Kubernetes 1.35; one that is not is never newer.
fn revision(pod: &Pod) -> u64 {
    let revision = pod.metadata.resource_version.as_deref();
    revision
        .and_then(|text| text.parse().ok())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kubewright::prelude::*;
    use serde_json::json;

    use super::Fresh;

    fn pod(uid: &str, revision: &str) -> Pod {
        let pod = json!({"metadata": {"name": "p", "namespace": "n", "uid": uid,
            "resourceVersion": revision}});
        serde_json::from_value(pod).unwrap()
    }

    #[test]
    fn an_answer_counts_until_the_cache_has_seen_it() {
        let fresh = Fresh::default();
        fresh.remember(pod("u", "10"));
        let known = |uid: &str, revision: &str| {
            let newest = fresh.newest(Arc::new(pod(uid, revision)));
            newest.metadata.resource_version.clone().unwrap()
        };
        assert_eq!(known("u", "9"), "10");
        assert_eq!(known("u", "9"), "10");
        assert_eq!(known("u", "10"), "10");
        assert_eq!(known("u", "9"), "9");
        fresh.remember(pod("u", "10"));
        assert_eq!(known("other", "9"), "9");
        fresh.remember(pod("u", "10"));
        fresh.forget(&pod("u", "1"));
        assert_eq!(known("u", "9"), "9");
    }
}
