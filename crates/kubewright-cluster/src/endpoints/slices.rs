use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::view::items;
use kubewright_apiserver::store::Object;

/// How many Pods a slice holds (`--max-endpoints-per-slice`).
const MOST: usize = 100;

/// What is to be done with the slices of a Service.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// Ports and endpoints of new ones.
    pub(super) made: Vec<(Vec<Value>, Vec<Value>)>,
    pub(super) changed: Vec<(Arc<Object>, Vec<Value>)>,
    pub(super) kept: Vec<Arc<Object>>,
    pub(super) deleted: Vec<Arc<Object>>,
}

/// Endpoints that have the same ports.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    /// The endpoints by uid of their Pod, by what is written of their ports.
    groups: BTreeMap<String, (Vec<Value>, BTreeMap<String, Value>)>,
}

impl Wanted {
    pub(super) fn add(&mut self, ports: Vec<Value>, pod: &str, endpoint: Value) {
        let group = self.groups.entry(key(&ports)).or_default();
        group.0 = ports;
        group.1.insert(pod.to_owned(), endpoint);
    }

    /// What to change in the slices that are there: entries stay where they are, new ones go
    /// where there is room.
    pub(super) fn against(mut self, present: Vec<Arc<Object>>) -> Changes {
        let mut changes = Changes::default();
        let mut by_ports: BTreeMap<String, Vec<Arc<Object>>> = BTreeMap::new();
        for slice in present {
            let ports = key(items(slice.value(), "/ports"));
            by_ports.entry(ports).or_default().push(slice);
        }
        for (ports, slices) in by_ports {
            match self.groups.remove(&ports) {
                Some(group) => fill(&mut changes, slices, group),
                None => changes.deleted.extend(slices),
            }
        }
        for group in self.groups.into_values() {
            fill(&mut changes, Vec::new(), group);
        }
        // A Service without Pods keeps one empty slice, which says that there are none.
        if changes.made.is_empty() && changes.changed.is_empty() && changes.kept.is_empty() {
            let is_empty = |slice: &Arc<Object>| {
                items(slice.value(), "/endpoints").is_empty()
                    && items(slice.value(), "/ports").is_empty()
            };
            match changes.deleted.iter().position(is_empty) {
                Some(index) => {
                    let kept = changes.deleted.remove(index);
                    changes.kept.push(kept);
                }
                None => changes.made.push((Vec::new(), Vec::new())),
            }
        }
        changes
    }
}

fn fill(
    changes: &mut Changes,
    slices: Vec<Arc<Object>>,
    (ports, mut wanted): (Vec<Value>, BTreeMap<String, Value>),
) {
    let mut filled: Vec<(Arc<Object>, Vec<Value>)> = slices
        .into_iter()
        .map(|slice| {
            let entries = items(slice.value(), "/endpoints").iter();
            let stay = entries.filter_map(|one| wanted.remove(pod_of(one)));
            let stay = stay.collect();
            (slice, stay)
        })
        .collect();
    let mut rest = wanted.into_values();
    // Only a slice that changes anyway, or the first with room, takes new ones.
    for (_, entries) in &mut filled {
        let room = MOST.saturating_sub(entries.len());
        entries.extend(rest.by_ref().take(room));
    }
    let mut rest: Vec<_> = rest.collect();
    while !rest.is_empty() {
        let more = rest.split_off(rest.len().min(MOST));
        changes.made.push((ports.clone(), rest));
        rest = more;
    }
    for (slice, entries) in filled {
        if entries.is_empty() {
            changes.deleted.push(slice);
        } else if entries == items(slice.value(), "/endpoints") {
            changes.kept.push(slice);
        } else {
            changes.changed.push((slice, entries));
        }
    }
}

fn pod_of(endpoint: &Value) -> &str {
    let uid = endpoint.pointer("/targetRef/uid").and_then(Value::as_str);
    uid.unwrap_or_default()
}

fn key(ports: &[Value]) -> String {
    let mut ports: Vec<_> = ports.iter().map(Value::to_string).collect();
    ports.sort();
    ports.join(",")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kubewright_core::Revision;
    use serde_json::{Value, json};

    use super::Wanted;
    use kubewright_apiserver::store::Object;

    fn endpoint(pod: usize) -> Value {
        json!({"targetRef": {"uid": pod.to_string()}})
    }

    fn wanted(pods: impl Iterator<Item = usize>) -> Wanted {
        let mut wanted = Wanted::default();
        for pod in pods {
            wanted.add(vec![json!({"port": 80})], &pod.to_string(), endpoint(pod));
        }
        wanted
    }

    fn slice(pods: &[usize]) -> Arc<Object> {
        let endpoints: Vec<_> = pods.iter().map(|pod| endpoint(*pod)).collect();
        let value = json!({"endpoints": endpoints, "ports": [{"port": 80}]});
        Arc::new(Object::new(value, Revision::new(1)))
    }

    #[test]
    fn pods_stay_where_they_are_and_new_ones_go_where_there_is_room() {
        let changes = wanted([2, 3, 4].into_iter()).against(vec![slice(&[3, 2, 1])]);
        let (_, entries) = &changes.changed[0];
        assert_eq!(*entries, [endpoint(3), endpoint(2), endpoint(4)]);
        assert!(changes.made.is_empty() && changes.deleted.is_empty());
        let changes = wanted([1, 2].into_iter()).against(vec![slice(&[2, 1])]);
        assert_eq!(changes.kept.len(), 1);
    }

    #[test]
    fn more_than_a_hundred_pods_need_more_slices() {
        let changes = wanted(0..250).against(Vec::new());
        let sizes: Vec<_> = changes.made.iter().map(|(_, pods)| pods.len()).collect();
        assert_eq!(sizes, [100, 100, 50]);
    }

    #[test]
    fn a_service_without_pods_keeps_one_empty_slice() {
        let changes = Wanted::default().against(vec![slice(&[1])]);
        assert_eq!((changes.made.len(), changes.deleted.len()), (1, 1));
        let empty = json!({"endpoints": null, "ports": null});
        let empty = Arc::new(Object::new(empty, Revision::new(1)));
        let changes = Wanted::default().against(vec![empty]);
        assert_eq!((changes.kept.len(), changes.made.len()), (1, 0));
    }
}
