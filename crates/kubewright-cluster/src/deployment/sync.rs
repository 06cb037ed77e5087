use std::collections::BTreeMap;
use std::sync::Arc;

use kubewright_core::LabelSelector;
use kubewright_wire::status::Status;
use tokio::time::Instant;

use super::progress::{pause_condition, rollout_status, time_to_deadline, was_complete};
use super::resize::{Resize, grow, shrink};
use super::rollout::{Rollout, Strategy, counted, wanted};
use super::status::NewStatus;
use super::write::{
    apply_size, clean_up, create_set, refuse_everything, resize, sync_revision, write_condition,
    write_status,
};
use crate::claim::Claim;
use crate::client::{DEPLOYMENTS, REPLICA_SETS};
use crate::owned::{Owned, controller_of};
use crate::selection::{label_selector, selects};
use crate::view::text;
use crate::{Client, Controller, Event, Step, Work};
use kubewright_apiserver::store::{Key, Object};

const DEPLOYMENT_KEYS: &str = "deployments.apps";
const SET_KEYS: &str = "replicasets.apps";

/// Rolls out Deployments.
#[derive(Debug, Default)]
pub(crate) struct Deployments {
    selectors: BTreeMap<Key, LabelSelector>,
    sets: Owned,
    pods: Owned,
    work: Work<Key>,
}

impl Controller for Deployments {
    fn observe(&mut self, event: &Event<'_>) {
        match event.key.resource() {
            DEPLOYMENT_KEYS => self.observe_deployment(event),
            SET_KEYS => self.observe_set(event),
            "pods" => self.pods.observe(event),
            _ => {}
        }
    }

    async fn step(&mut self, cluster: &Client) -> Step {
        let Some(key) = self.work.next() else {
            return self.work.idle();
        };
        let result = match cluster.store().get(&key) {
            Some(deployment) => self.sync(cluster, &key, deployment).await,
            None => Ok(()),
        };
        self.work.settle_insistently(key, result);
        Step::Worked
    }
}

impl Deployments {
    fn observe_deployment(&mut self, event: &Event<'_>) {
        let Some(deployment) = event.now else {
            self.selectors.remove(event.key);
            return;
        };
        match label_selector(deployment.value().pointer("/spec/selector")) {
            Some(selector) => self.selectors.insert(event.key.clone(), selector),
            None => self.selectors.remove(event.key),
        };
        self.work.add(event.key.clone());
    }

    fn observe_set(&mut self, event: &Event<'_>) {
        self.sets.observe(event);
        let namespace = event.key.namespace();
        for set in [event.before, event.now].into_iter().flatten() {
            match controller_of(set) {
                Some(owner) if owner.kind == "Deployment" => {
                    let key = Key::new(DEPLOYMENT_KEYS, namespace, &owner.name);
                    self.work.add(key);
                }
                Some(_) => {}
                None => {
                    let matching = self.selectors.iter().filter(|(key, selector)| {
                        key.namespace() == namespace && selects(selector, set.value())
                    });
                    for (key, _) in matching {
                        self.work.add(key.clone());
                    }
                }
            }
        }
    }

    async fn sync(
        &mut self,
        cluster: &Client,
        key: &Key,
        deployment: Arc<Object>,
    ) -> Result<(), Status> {
        let Some(selector) = self.selectors.get(key) else {
            return Ok(());
        };
        if selector.is_empty() {
            return refuse_everything(cluster, &deployment).await;
        }
        let claim = Claim {
            owner: &deployment,
            owner_resource: &DEPLOYMENTS,
            selector,
            resource: &REPLICA_SETS,
        };
        let namespace = deployment.namespace().unwrap_or_default();
        let own = self.sets.of(deployment.uid());
        let keys = own.chain(self.sets.orphans(namespace));
        let sets = keys.filter_map(|key| cluster.store().get(key));
        let sets = claim.take(cluster, sets).await?;
        let rollout = Rollout::read(Arc::clone(&deployment), sets);
        if deployment.is_terminating() {
            return write_status(
                cluster,
                &rollout,
                NewStatus::of(&rollout, &cluster.timestamp()),
            )
            .await
            .map(drop);
        }
        if let Some(condition) = pause_condition(&rollout) {
            return write_condition(cluster, &rollout, &condition).await;
        }
        if sync_revision(cluster, &rollout).await? {
            return Ok(());
        }
        if rollout.is_paused() || rollout.is_scaled() {
            return resize(cluster, &rollout).await;
        }
        match rollout.strategy {
            Strategy::Recreate => self.recreate(cluster, key, &rollout).await,
            Strategy::Rolling { .. } => self.roll(cluster, key, &rollout).await,
        }
    }

    async fn roll(&mut self, cluster: &Client, key: &Key, rollout: &Rollout) -> Result<(), Status> {
        if rollout.new.is_none() {
            return create_set(cluster, rollout).await;
        }
        if let Some(grown) = grow(rollout) {
            apply_size(cluster, rollout, &grown).await?;
        } else {
            let shrunk = shrink(rollout);
            for resize in &shrunk {
                apply_size(cluster, rollout, resize).await?;
            }
            if shrunk.is_empty() && was_complete(rollout) {
                clean_up(cluster, rollout).await?;
            }
        }
        self.report_progress(cluster, key, rollout).await
    }

    async fn recreate(
        &mut self,
        cluster: &Client,
        key: &Key,
        rollout: &Rollout,
    ) -> Result<(), Status> {
        let active = rollout.active_old();
        for set in &active {
            let resize = Resize {
                set: Arc::clone(set),
                size: 0,
                is_forced: false,
            };
            apply_size(cluster, rollout, &resize).await?;
        }
        if active.is_empty() && !self.has_old_pods(cluster, rollout) {
            let Some(new) = &rollout.new else {
                return create_set(cluster, rollout).await;
            };
            if wanted(new) != rollout.replicas {
                let resize = Resize {
                    set: Arc::clone(new),
                    size: rollout.replicas,
                    is_forced: false,
                };
                apply_size(cluster, rollout, &resize).await?;
            }
            if was_complete(rollout) {
                clean_up(cluster, rollout).await?;
            }
        } else if active.is_empty() {
            // Pods that end are no change of a ReplicaSet once it counts none: look again.
            let soon = Instant::now() + std::time::Duration::from_secs(1);
            self.work.put_off(soon, key.clone());
        }
        self.report_progress(cluster, key, rollout).await
    }

    /// Whether Pods of old ReplicaSets still run, also those that are being deleted.
    fn has_old_pods(&self, cluster: &Client, rollout: &Rollout) -> bool {
        let pods = |set: &Arc<Object>| {
            let keys: Vec<_> = self.pods.of(set.uid()).cloned().collect();
            keys
        };
        rollout.old.iter().any(|set| counted(set, "replicas") > 0)
            || rollout.old.iter().flat_map(pods).any(|key| {
                cluster.store().get(&key).is_some_and(|pod| {
                    !matches!(text(pod.value(), "/status/phase"), "Succeeded" | "Failed")
                })
            })
    }

    async fn report_progress(
        &mut self,
        cluster: &Client,
        key: &Key,
        rollout: &Rollout,
    ) -> Result<(), Status> {
        let status = rollout_status(rollout, cluster.now());
        let is_written = write_status(cluster, rollout, status).await?;
        if !is_written && let Some(left) = time_to_deadline(rollout, cluster.now()) {
            self.work.put_off(Instant::now() + left, key.clone());
        }
        Ok(())
    }
}
