//! Which EndpointSlices of a Service are created, updated and deleted.

use std::collections::BTreeMap;
use std::sync::Arc;

use kubewright_apiserver::store::Object;
use serde_json::Value;

use crate::framework::{items, text};

/// How many endpoints a slice holds (`--max-endpoints-per-slice` of kube-controller-manager).
const MAX_ENDPOINTS: usize = 100;

/// The content of a slice.
#[derive(Debug, Default)]
pub(super) struct SliceContent {
    pub(super) ports: Vec<Value>,
    pub(super) endpoints: Vec<Value>,
}

/// The changes of the slices of a Service.
#[derive(Debug, Default)]
pub(super) struct SliceChanges {
    pub(super) created: Vec<SliceContent>,
    /// Slices with their new endpoints.
    pub(super) updated: Vec<(Arc<Object>, Vec<Value>)>,
    pub(super) unchanged: Vec<Arc<Object>>,
    pub(super) deleted: Vec<Arc<Object>>,
}

/// The endpoints that a Service should have.
#[derive(Debug, Default)]
pub(super) struct DesiredEndpoints {
    /// Groups of endpoints with the same ports, by those ports as text.
    groups: BTreeMap<String, EndpointGroup>,
}

/// Endpoints with the same ports.
#[derive(Debug, Default)]
struct EndpointGroup {
    ports: Vec<Value>,
    /// The endpoints by uid of their Pod.
    endpoints: BTreeMap<String, Value>,
}

impl DesiredEndpoints {
    pub(super) fn add(&mut self, ports: Vec<Value>, pod_uid: &str, endpoint: Value) {
        let group = self.groups.entry(ports_key(&ports)).or_default();
        group.ports = ports;
        group.endpoints.insert(pod_uid.to_owned(), endpoint);
    }

    /// The changes from the present slices. An endpoint stays in its slice; new ones fill slices
    /// with free places.
    pub(super) fn changes_from(mut self, present: Vec<Arc<Object>>) -> SliceChanges {
        let mut changes = SliceChanges::default();
        let mut by_ports: BTreeMap<String, Vec<Arc<Object>>> = BTreeMap::new();
        for slice in present {
            let ports = ports_key(items(slice.value(), "/ports"));
            by_ports.entry(ports).or_default().push(slice);
        }
        for (ports, slices) in by_ports {
            match self.groups.remove(&ports) {
                Some(group) => distribute(&mut changes, slices, group),
                None => changes.deleted.extend(slices),
            }
        }
        for group in self.groups.into_values() {
            distribute(&mut changes, Vec::new(), group);
        }
        if changes.created.is_empty() && changes.updated.is_empty() && changes.unchanged.is_empty()
        {
            keep_empty_slice(&mut changes);
        }
        changes
    }
}

/// Keeps or creates one empty slice for a Service without Pods, so that its clients see that there
/// are none.
fn keep_empty_slice(changes: &mut SliceChanges) {
    let is_empty = |slice: &Arc<Object>| {
        items(slice.value(), "/endpoints").is_empty() && items(slice.value(), "/ports").is_empty()
    };
    match changes.deleted.iter().position(is_empty) {
        Some(index) => {
            let slice = changes.deleted.remove(index);
            changes.unchanged.push(slice);
        }
        None => changes.created.push(SliceContent::default()),
    }
}

/// Distributes the endpoints of a group over its present slices and new ones.
fn distribute(changes: &mut SliceChanges, slices: Vec<Arc<Object>>, group: EndpointGroup) {
    let EndpointGroup {
        ports,
        mut endpoints,
    } = group;
    let mut filled: Vec<(Arc<Object>, Vec<Value>)> = slices
        .into_iter()
        .map(|slice| {
            let kept = items(slice.value(), "/endpoints")
                .iter()
                .filter_map(|entry| endpoints.remove(text(entry, "/targetRef/uid")))
                .collect();
            (slice, kept)
        })
        .collect();
    let mut new = endpoints.into_values();
    for (_, entries) in &mut filled {
        let free = MAX_ENDPOINTS.saturating_sub(entries.len());
        entries.extend(new.by_ref().take(free));
    }
    let rest: Vec<_> = new.collect();
    let created = rest.chunks(MAX_ENDPOINTS).map(|chunk| SliceContent {
        ports: ports.clone(),
        endpoints: chunk.to_vec(),
    });
    changes.created.extend(created);
    for (slice, entries) in filled {
        if entries.is_empty() {
            changes.deleted.push(slice);
        } else if entries == items(slice.value(), "/endpoints") {
            changes.unchanged.push(slice);
        } else {
            changes.updated.push((slice, entries));
        }
    }
}

/// Ports as a text that does not depend on their order.
fn ports_key(ports: &[Value]) -> String {
    let mut texts: Vec<_> = ports.iter().map(Value::to_string).collect();
    texts.sort();
    texts.join(",")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kubewright_apiserver::store::Object;
    use kubewright_core::Revision;
    use serde_json::{Value, json};

    use super::DesiredEndpoints;

    fn endpoint(pod: usize) -> Value {
        json!({"targetRef": {"uid": pod.to_string()}})
    }

    fn desired(pods: impl Iterator<Item = usize>) -> DesiredEndpoints {
        let mut desired = DesiredEndpoints::default();
        for pod in pods {
            desired.add(vec![json!({"port": 80})], &pod.to_string(), endpoint(pod));
        }
        desired
    }

    fn slice(pods: &[usize]) -> Arc<Object> {
        let endpoints: Vec<_> = pods.iter().map(|pod| endpoint(*pod)).collect();
        let value = json!({"endpoints": endpoints, "ports": [{"port": 80}]});
        Arc::new(Object::new(value, Revision::new(1)))
    }

    #[test]
    fn endpoints_keep_their_slice_and_new_ones_fill_free_places() {
        let changes = desired([2, 3, 4].into_iter()).changes_from(vec![slice(&[3, 2, 1])]);
        let (_, entries) = &changes.updated[0];
        assert_eq!(*entries, [endpoint(3), endpoint(2), endpoint(4)]);
        assert!(changes.created.is_empty() && changes.deleted.is_empty());
        let changes = desired([1, 2].into_iter()).changes_from(vec![slice(&[2, 1])]);
        assert_eq!(changes.unchanged.len(), 1);
    }

    #[test]
    fn slice_holds_at_most_100_endpoints() {
        let changes = desired(0..250).changes_from(Vec::new());
        let sizes: Vec<_> = changes
            .created
            .iter()
            .map(|slice| slice.endpoints.len())
            .collect();
        assert_eq!(sizes, [100, 100, 50]);
    }

    #[test]
    fn service_without_pods_has_one_empty_slice() {
        let changes = DesiredEndpoints::default().changes_from(vec![slice(&[1])]);
        assert_eq!((changes.created.len(), changes.deleted.len()), (1, 1));
        let empty = json!({"endpoints": null, "ports": null});
        let empty_slice = Arc::new(Object::new(empty, Revision::new(1)));
        let changes = DesiredEndpoints::default().changes_from(vec![empty_slice]);
        assert_eq!((changes.unchanged.len(), changes.created.len()), (1, 0));
    }
}
