use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kubewright_wire::status::Status;
use serde_json::{Value, json};

use super::client::{Deletion, NAMESPACES, resource_of};
use super::view::{items, status_patch, with_condition};
use super::{Client, Controller, Event, Step, Work};
use kubewright_apiserver::store::{Key, Object};

const FINALIZER: &str = "kubernetes";

/// Empties namespaces that are being deleted and lets them go.
///
/// Pods are deleted first and awaited, then everything else; what keeps the namespace from going
/// is told in its conditions. Kubernetes waits five seconds before it begins, this does not.
#[derive(Debug, Default)]
pub(super) struct Namespaces {
    content: BTreeMap<String, BTreeSet<Key>>,
    terminating: BTreeSet<String>,
    /// What is told to go; a failure is tried again by itself.
    removing: BTreeSet<Key>,
    work: Work<Task>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Task {
    /// Delete one object.
    Remove(Key),
    /// See what is left in a namespace.
    Review(String),
}

impl Controller for Namespaces {
    fn observe(&mut self, event: &Event<'_>) {
        if event.key.resource() == "namespaces" {
            return self.observe_namespace(event);
        }
        let Some(namespace) = event.key.namespace() else {
            return;
        };
        let keys = self.content.entry(namespace.to_owned()).or_default();
        let may_go_on = match event.now {
            Some(_) => keys.insert(event.key.clone()),
            None => {
                self.removing.remove(event.key);
                keys.remove(event.key) && is_turning_point(keys, event.key)
            }
        };
        if keys.is_empty() {
            self.content.remove(namespace);
        }
        if may_go_on && self.terminating.contains(namespace) {
            self.work.add(Task::Review(namespace.to_owned()));
        }
    }

    async fn step(&mut self, cluster: &Client) -> Step {
        let Some(task) = self.work.next() else {
            return self.work.idle();
        };
        let result = match &task {
            Task::Remove(key) => remove(cluster, key).await,
            Task::Review(namespace) => self.review(cluster, namespace).await,
        };
        self.work.settle(task, result);
        Step::Worked
    }
}

impl Namespaces {
    fn observe_namespace(&mut self, event: &Event<'_>) {
        let name = event.key.name();
        match event.now {
            Some(namespace) if namespace.is_terminating() => {
                self.terminating.insert(name.to_owned());
                self.work.add(Task::Review(name.to_owned()));
            }
            Some(_) => {}
            None => {
                self.terminating.remove(name);
                self.content.remove(name);
            }
        }
    }

    async fn review(&mut self, cluster: &Client, name: &str) -> Result<(), Status> {
        let key = Key::new("namespaces", None, name);
        let Some(namespace) = cluster.store().get(&key) else {
            return Ok(());
        };
        let is_ours = |one: &Value| one == FINALIZER;
        if !namespace.is_terminating()
            || !items(namespace.value(), "/spec/finalizers")
                .iter()
                .any(is_ours)
        {
            return Ok(());
        }
        let left: Vec<_> = self
            .content
            .get(name)
            .into_iter()
            .flatten()
            .filter_map(|key| Some((key, cluster.store().get(key)?)))
            .collect();
        if left.is_empty() {
            return finalize(cluster, &namespace).await;
        }
        let pods_left = left.iter().any(|(key, _)| key.resource() == "pods");
        let mut is_told = true;
        for (key, object) in &left {
            let is_its_turn = !pods_left || key.resource() == "pods";
            if is_its_turn && !object.is_terminating() && self.removing.insert((*key).clone()) {
                self.work.add(Task::Remove((*key).clone()));
                is_told = false;
            }
        }
        // What is still to be deleted is no news; what stays after its deletion is.
        if is_told {
            return tell(cluster, &namespace, &left).await;
        }
        self.work.add(Task::Review(name.to_owned()));
        Ok(())
    }
}

/// Whether the removal of an object lets the deletion of its namespace go on: it was the last
/// one, or the last Pod, for which everything else waits.
fn is_turning_point(left: &BTreeSet<Key>, removed: &Key) -> bool {
    let is_pod = |key: &Key| key.resource() == "pods";
    let mut later = left.range(Key::at("pods", "")..);
    left.is_empty() || is_pod(removed) && !later.next().is_some_and(is_pod)
}

async fn remove(cluster: &Client, key: &Key) -> Result<(), Status> {
    let Some(object) = cluster.store().get(key) else {
        return Ok(());
    };
    let deletion = Deletion {
        uid: object.uid(),
        grace_seconds: None,
        propagation: Some("Background"),
    };
    cluster
        .delete(&resource_of(key, &object), &object, deletion)
        .await
}

async fn finalize(cluster: &Client, namespace: &Object) -> Result<(), Status> {
    let mut value = namespace.value().clone();
    let mut finalizers = items(&value, "/spec/finalizers").to_vec();
    finalizers.retain(|one| one != FINALIZER);
    value["spec"]["finalizers"] = finalizers.into();
    cluster
        .update_at(&NAMESPACES, namespace, "finalize", value)
        .await
}

/// Writes into the namespace's conditions what keeps it.
async fn tell(
    cluster: &Client,
    namespace: &Object,
    left: &[(&Key, Arc<Object>)],
) -> Result<(), Status> {
    let told = items(namespace.value(), "/status/conditions");
    let mut object = json!({"status": {"conditions": told}});
    let mut is_news = false;
    for condition in conditions(left, &cluster.timestamp()) {
        if let Some(conditions) = with_condition(&object, condition) {
            object["status"]["conditions"] = conditions.into();
            is_news = true;
        }
    }
    if !is_news {
        return Ok(());
    }
    let patch = status_patch(namespace.value(), &object["status"]);
    cluster.patch_status(&NAMESPACES, namespace, patch).await
}

/// The five conditions, worded by pkg/controller/namespace/deletion/status_condition_utils.go.
fn conditions(left: &[(&Key, Arc<Object>)], now: &str) -> Vec<Value> {
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    let mut finalizers: BTreeMap<String, usize> = BTreeMap::new();
    for (key, object) in left {
        let resource = match key.resource() {
            name if name.contains('.') => name.to_owned(),
            core => format!("{core}."),
        };
        *kinds.entry(resource).or_default() += 1;
        for finalizer in object.finalizers() {
            *finalizers.entry(finalizer.to_owned()).or_default() += 1;
        }
    }
    let kinds: Vec<_> = kinds
        .iter()
        .map(|(name, count)| format!("{name} has {count} resource instances"))
        .collect();
    let finalizers: Vec<_> = finalizers
        .iter()
        .map(|(name, count)| format!("{name} in {count} resource instances"))
        .collect();
    let condition = |kind: &str, status: &str, reason: &str, message: String| {
        json!({
            "type": kind,
            "status": status,
            "reason": reason,
            "message": message,
            "lastTransitionTime": now,
        })
    };
    let fine = |kind: &str, reason: &str, message: &str| {
        condition(kind, "False", reason, message.to_owned())
    };
    let mut all = vec![
        fine(
            "NamespaceDeletionDiscoveryFailure",
            "ResourcesDiscovered",
            "All resources successfully discovered",
        ),
        fine(
            "NamespaceDeletionGroupVersionParsingFailure",
            "ParsedGroupVersions",
            "All legacy kube types successfully parsed",
        ),
        fine(
            "NamespaceDeletionContentFailure",
            "ContentDeleted",
            "All content successfully deleted, may be waiting on finalization",
        ),
    ];
    all.push(condition(
        "NamespaceContentRemaining",
        "True",
        "SomeResourcesRemain",
        format!("Some resources are remaining: {}", kinds.join(", ")),
    ));
    all.push(match finalizers.is_empty() {
        true => fine(
            "NamespaceFinalizersRemaining",
            "ContentHasNoFinalizers",
            "All content-preserving finalizers finished",
        ),
        false => condition(
            "NamespaceFinalizersRemaining",
            "True",
            "SomeFinalizersRemain",
            format!(
                "Some content in the namespace has finalizers remaining: {}",
                finalizers.join(", ")
            ),
        ),
    });
    all
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kubewright_core::Revision;
    use serde_json::json;

    use super::conditions;
    use kubewright_apiserver::store::{Key, Object};

    #[test]
    fn what_keeps_a_namespace_is_told_as_kubernetes_tells_it() {
        let key = Key::new("configmaps", Some("x"), "held");
        let held = json!({"metadata": {"name": "held", "finalizers": ["ex.io/hold"]}});
        let held = Arc::new(Object::new(held, Revision::new(1)));
        let told: Vec<_> = conditions(&[(&key, held)], "T")
            .iter()
            .map(|one| {
                format!("{} {} {}", one["type"], one["status"], one["message"]).replace('"', "")
            })
            .collect();
        assert_eq!(
            told[3..],
            [
                "NamespaceContentRemaining True Some resources are remaining: configmaps. has 1 resource instances",
                "NamespaceFinalizersRemaining True Some content in the namespace has finalizers remaining: ex.io/hold in 1 resource instances",
            ]
        );
        assert_eq!(
            told[0],
            "NamespaceDeletionDiscoveryFailure False All resources successfully discovered"
        );
    }
}
