//! The loop of the Deployment controller: which Deployments a change concerns, and the next step
//! of one.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use kubewright_apiserver::store::{Key, Object};
use kubewright_core::LabelSelector;
use kubewright_kinds::{apps, core};
use kubewright_wire::status::Status;
use tokio::time::Instant;

use super::new_set::{create_set, sync_revision};
use super::progress::{pause_condition, rollout_status, time_to_deadline, was_complete};
use super::resize::{Resize, grow, shrink};
use super::rollout::{Rollout, Strategy, replicas, status_count};
use super::status::NewStatus;
use super::write::{
    apply_resize, clean_up, reject_empty_selector, sync_scale, write_condition, write_status,
};
use crate::framework::{
    Claim, Client, ControlLoop, DEPLOYMENTS, ObjectChange, OwnerIndex, REPLICA_SETS, Step,
    WorkQueue, controller_of, has_ended, label_selector, selects,
};

/// How often the end of old Pods is checked while a Deployment is recreated.
const RECREATE_POLL: Duration = Duration::from_secs(1);

/// Rolls out Deployments.
#[derive(Debug, Default)]
pub(crate) struct DeploymentController {
    selectors: BTreeMap<Key, LabelSelector>,
    sets: OwnerIndex,
    pods: OwnerIndex,
    queue: WorkQueue<Key>,
}

impl ControlLoop for DeploymentController {
    fn observe(&mut self, change: &ObjectChange<'_>) {
        if change.key.is_of(&apps::DEPLOYMENT) {
            self.observe_deployment(change);
        } else if change.key.is_of(&apps::REPLICA_SET) {
            self.observe_set(change);
        } else if change.key.is_of(&core::POD) {
            self.pods.observe(change);
        }
    }

    async fn step(&mut self, client: &Client) -> Step {
        let Some(key) = self.queue.pop() else {
            return self.queue.idle();
        };
        let result = match client.store().get(&key) {
            Some(deployment) => self.sync(client, &key, deployment).await,
            None => Ok(()),
        };
        self.queue.finish_retrying_conflicts(key, result);
        Step::Worked
    }
}

impl DeploymentController {
    fn observe_deployment(&mut self, change: &ObjectChange<'_>) {
        let Some(deployment) = change.after else {
            self.selectors.remove(change.key);
            return;
        };
        match label_selector(deployment.value().pointer("/spec/selector")) {
            Some(selector) => self.selectors.insert(change.key.clone(), selector),
            None => self.selectors.remove(change.key),
        };
        self.queue.add(change.key.clone());
    }

    fn observe_set(&mut self, change: &ObjectChange<'_>) {
        self.sets.observe(change);
        let namespace = change.key.namespace();
        for set in change.versions() {
            match controller_of(set) {
                Some(owner) if owner.kind == apps::DEPLOYMENT.kind => {
                    let key = Key::of(&apps::DEPLOYMENT, namespace, &owner.name);
                    self.queue.add(key);
                }
                Some(_) => {}
                None => self.enqueue_adopters(set),
            }
        }
    }

    /// Enqueues the Deployments that could adopt an orphan.
    fn enqueue_adopters(&mut self, set: &Object) {
        let matching = self.selectors.iter().filter(|(key, selector)| {
            key.namespace() == set.namespace() && selects(selector, set.value())
        });
        for (key, _) in matching {
            self.queue.add(key.clone());
        }
    }

    async fn sync(
        &mut self,
        client: &Client,
        key: &Key,
        deployment: Arc<Object>,
    ) -> Result<(), Status> {
        let Some(selector) = self.selectors.get(key) else {
            return Ok(());
        };
        if selector.is_empty() {
            return reject_empty_selector(client, &deployment).await;
        }
        let claim = Claim {
            owner: &deployment,
            owner_resource: &DEPLOYMENTS,
            selector,
            resource: &REPLICA_SETS,
        };
        let namespace = deployment.namespace().unwrap_or_default();
        let candidates = self
            .sets
            .owned_by(deployment.uid())
            .chain(self.sets.orphans(namespace))
            .filter_map(|key| client.store().get(key));
        let sets = claim.claim(client, candidates).await?;
        let rollout = Rollout::read(Arc::clone(&deployment), sets);
        if deployment.is_terminating() {
            let status = NewStatus::of(&rollout, &client.timestamp());
            return write_status(client, &rollout, status).await.map(drop);
        }
        if let Some(condition) = pause_condition(&rollout) {
            return write_condition(client, &rollout, &condition).await;
        }
        if sync_revision(client, &rollout).await? {
            return Ok(());
        }
        if rollout.is_paused() || rollout.is_scaled() {
            return sync_scale(client, &rollout).await;
        }
        match rollout.strategy {
            Strategy::Recreate => self.recreate(client, key, &rollout).await,
            Strategy::RollingUpdate { .. } => self.roll(client, key, &rollout).await,
        }
    }

    async fn roll(&mut self, client: &Client, key: &Key, rollout: &Rollout) -> Result<(), Status> {
        if rollout.new.is_none() {
            return create_set(client, rollout).await;
        }
        if let Some(resize) = grow(rollout) {
            apply_resize(client, rollout, &resize).await?;
        } else {
            let resizes = shrink(rollout);
            for resize in &resizes {
                apply_resize(client, rollout, resize).await?;
            }
            if resizes.is_empty() && was_complete(rollout) {
                clean_up(client, rollout).await?;
            }
        }
        self.write_progress(client, key, rollout).await
    }

    async fn recreate(
        &mut self,
        client: &Client,
        key: &Key,
        rollout: &Rollout,
    ) -> Result<(), Status> {
        let active = rollout.active_old();
        for set in &active {
            apply_resize(client, rollout, &Resize::to(set, 0)).await?;
        }
        if active.is_empty() && !self.has_old_pods(client, rollout) {
            let Some(new) = &rollout.new else {
                return create_set(client, rollout).await;
            };
            if replicas(new) != rollout.replicas {
                let resize = Resize::to(new, rollout.replicas);
                apply_resize(client, rollout, &resize).await?;
            }
            if was_complete(rollout) {
                clean_up(client, rollout).await?;
            }
        } else if active.is_empty() {
            // A ReplicaSet that counts no Pods does not change when a Pod ends.
            let time = Instant::now() + RECREATE_POLL;
            self.queue.reschedule(time, key.clone());
        }
        self.write_progress(client, key, rollout).await
    }

    /// Whether Pods of old ReplicaSets still run, including terminating ones.
    fn has_old_pods(&self, client: &Client, rollout: &Rollout) -> bool {
        let runs = |key: &Key| {
            let pod = client.store().get(key);
            pod.is_some_and(|pod| !has_ended(pod.value()))
        };
        rollout
            .old
            .iter()
            .any(|set| status_count(set, "replicas") > 0 || self.pods.owned_by(set.uid()).any(runs))
    }

    async fn write_progress(
        &mut self,
        client: &Client,
        key: &Key,
        rollout: &Rollout,
    ) -> Result<(), Status> {
        let status = rollout_status(rollout, client.now());
        let is_written = write_status(client, rollout, status).await?;
        if !is_written && let Some(left) = time_to_deadline(rollout, client.now()) {
            self.queue.reschedule(Instant::now() + left, key.clone());
        }
        Ok(())
    }
}
