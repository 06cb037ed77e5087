//! The loop of the ReplicaSet controller: which sets a change concerns, and one sync of a set.

use std::collections::BTreeMap;
use std::sync::Arc;

use kubewright_apiserver::store::{Key, Object};
use kubewright_core::LabelSelector;
use kubewright_kinds::{apps, core};
use kubewright_wire::status::Status;
use tokio::time::Instant;

use super::pods::scale;
use super::status::{SetPods, available_in, next_status};
use crate::framework::{
    Claim, Client, ControlLoop, ObjectChange, OwnerIndex, PODS, REPLICA_SETS, Step, WorkQueue,
    controller_of, has_ended, label_selector, number, selects, status_patch,
};

/// Keeps the number of Pods of each ReplicaSet.
#[derive(Debug, Default)]
pub(crate) struct ReplicaSetController {
    selectors: BTreeMap<Key, LabelSelector>,
    pods: OwnerIndex,
    queue: WorkQueue<Key>,
}

impl ControlLoop for ReplicaSetController {
    fn observe(&mut self, change: &ObjectChange<'_>) {
        if change.key.is_of(&apps::REPLICA_SET) {
            self.observe_set(change);
        } else if change.key.is_of(&core::POD) {
            self.observe_pod(change);
        }
    }

    async fn step(&mut self, client: &Client) -> Step {
        let Some(key) = self.queue.pop() else {
            return self.queue.idle();
        };
        let result = match client.store().get(&key) {
            Some(set) => self.sync(client, &key, &set).await,
            None => Ok(()),
        };
        self.queue.finish_retrying_conflicts(key, result);
        Step::Worked
    }
}

impl ReplicaSetController {
    fn observe_set(&mut self, change: &ObjectChange<'_>) {
        let Some(set) = change.after else {
            self.selectors.remove(change.key);
            return;
        };
        match label_selector(set.value().pointer("/spec/selector")) {
            Some(selector) => self.selectors.insert(change.key.clone(), selector),
            None => self.selectors.remove(change.key),
        };
        self.queue.add(change.key.clone());
    }

    fn observe_pod(&mut self, change: &ObjectChange<'_>) {
        self.pods.observe(change);
        let namespace = change.key.namespace();
        for pod in change.versions() {
            match controller_of(pod) {
                Some(owner) if owner.kind == apps::REPLICA_SET.kind => {
                    self.queue
                        .add(Key::of(&apps::REPLICA_SET, namespace, &owner.name));
                }
                Some(_) => {}
                None => self.enqueue_adopters(pod),
            }
        }
    }

    /// Enqueues the sets that could adopt an orphan.
    fn enqueue_adopters(&mut self, pod: &Object) {
        let matching = self.selectors.iter().filter(|(key, selector)| {
            key.namespace() == pod.namespace() && selects(selector, pod.value())
        });
        for (key, _) in matching {
            self.queue.add(key.clone());
        }
    }

    async fn sync(&mut self, client: &Client, key: &Key, set: &Object) -> Result<(), Status> {
        let selector = self.selectors.get(key);
        let Some(selector) = selector.filter(|selector| !selector.is_empty()) else {
            return Ok(());
        };
        let claim = Claim {
            owner: set,
            owner_resource: &REPLICA_SETS,
            selector,
            resource: &PODS,
        };
        let namespace = set.namespace().unwrap_or_default();
        let (terminating, present): (Vec<_>, Vec<_>) = self
            .pods
            .owned_by(set.uid())
            .chain(self.pods.orphans(namespace))
            .filter_map(|key| client.store().get(key))
            .partition(|pod| pod.is_terminating());
        let is_owned =
            |pod: &&Arc<Object>| controller_of(pod).is_some_and(|owner| owner.uid == set.uid());
        let terminating = terminating.iter().filter(is_owned).count();
        let candidates = present.into_iter().filter(|pod| !has_ended(pod.value()));
        let active = claim.claim(client, candidates).await?;
        let scaled = if set.is_terminating() {
            Ok(())
        } else {
            scale(client, &claim, &active).await
        };
        let pods = SetPods {
            active: &active,
            terminating,
        };
        let failure = scaled.as_ref().err();
        if let Some(status) = next_status(set, pods, failure, client.now()) {
            let patch = status_patch(set.value(), &status);
            client.patch_status(&REPLICA_SETS, set, patch).await?;
        }
        self.requeue_when_available(client, key, set, &active);
        scaled
    }

    /// Enqueues a set again when its next Pod has been ready for `minReadySeconds`.
    fn requeue_when_available(
        &mut self,
        client: &Client,
        key: &Key,
        set: &Object,
        active: &[Arc<Object>],
    ) {
        let min_ready = number(set.value(), "/spec/minReadySeconds").unwrap_or_default();
        let next = active
            .iter()
            .filter_map(|pod| available_in(pod.value(), min_ready, client.now()))
            .filter(|wait| !wait.is_zero())
            .min();
        if let Some(wait) = next {
            self.queue.add_at(Instant::now() + wait, key.clone());
        }
    }
}
