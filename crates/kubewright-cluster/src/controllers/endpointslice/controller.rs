//! The loop of the EndpointSlice controller: which Services a change concerns, and the writes of
//! one sync.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kubewright_apiserver::store::{Key, Object};
use kubewright_core::LabelSelector;
use kubewright_kinds::{core, discovery};
use kubewright_wire::status::Status;
use serde_json::{Value, json};

use super::endpoint::{AddressFamily, endpoint, ports, should_be_in_endpoints};
use super::new_slice::{
    LAST_CHANGE_TRIGGER_TIME, MANAGED_BY, MANAGER, SERVICE_NAME, label_changes, new_slice,
};
use super::slices::{DesiredEndpoints, SliceChanges};
use crate::framework::{
    Client, ControlLoop, DeleteOptions, ENDPOINT_SLICES, ObjectChange, Step, WorkQueue, node_name,
    plain_selector, selects, text,
};

/// Keeps the EndpointSlices of Services.
#[derive(Debug, Default)]
pub(crate) struct EndpointSliceController {
    selectors: BTreeMap<Key, LabelSelector>,
    /// The Pods of each namespace.
    pods: BTreeMap<String, BTreeSet<Key>>,
    /// The slices of each Service.
    slices: BTreeMap<Key, BTreeSet<Key>>,
    queue: WorkQueue<Key>,
}

impl ControlLoop for EndpointSliceController {
    fn observe(&mut self, change: &ObjectChange<'_>) {
        if change.key.is_of(&core::SERVICE) {
            self.observe_service(change);
        } else if change.key.is_of(&core::POD) {
            self.observe_pod(change);
        } else if change.key.is_of(&discovery::ENDPOINT_SLICE) {
            self.observe_slice(change);
        }
    }

    async fn step(&mut self, client: &Client) -> Step {
        let Some(key) = self.queue.pop() else {
            return self.queue.idle();
        };
        let result = match client.store().get(&key) {
            Some(service) => self.sync(client, &key, &service).await,
            None => Ok(()),
        };
        self.queue.finish_retrying_conflicts(key, result);
        Step::Worked
    }
}

impl EndpointSliceController {
    fn observe_service(&mut self, change: &ObjectChange<'_>) {
        let selector = |service: &Object| {
            let is_external = text(service.value(), "/spec/type") == "ExternalName";
            let selector = service.value().pointer("/spec/selector");
            plain_selector(selector.filter(|_| !is_external))
        };
        match change.after.and_then(|service| selector(service)) {
            Some(selector) => self.selectors.insert(change.key.clone(), selector),
            None => self.selectors.remove(change.key),
        };
        if change.after.is_some() {
            self.queue.add(change.key.clone());
        }
    }

    fn observe_pod(&mut self, change: &ObjectChange<'_>) {
        let namespace = change.key.namespace();
        let pods = self
            .pods
            .entry(namespace.unwrap_or_default().to_owned())
            .or_default();
        match change.after {
            Some(_) => pods.insert(change.key.clone()),
            None => pods.remove(change.key),
        };
        for pod in change.versions() {
            let selecting = self.selectors.iter().filter(|(key, selector)| {
                key.namespace() == namespace && selects(selector, pod.value())
            });
            for (service, _) in selecting {
                self.queue.add(service.clone());
            }
        }
    }

    fn observe_slice(&mut self, change: &ObjectChange<'_>) {
        let namespace = change.key.namespace();
        for slice in change.versions() {
            let is_managed = slice.label(MANAGED_BY) == Some(MANAGER);
            let Some(name) = slice.label(SERVICE_NAME).filter(|_| is_managed) else {
                continue;
            };
            let service = Key::of(&core::SERVICE, namespace, name);
            let slices = self.slices.entry(service.clone()).or_default();
            match change.after {
                Some(_) => slices.insert(change.key.clone()),
                None => slices.remove(change.key),
            };
            self.queue.add(service);
        }
    }

    async fn sync(&self, client: &Client, key: &Key, service: &Object) -> Result<(), Status> {
        let selector = self.selectors.get(key);
        let Some(selector) = selector.filter(|_| !service.is_terminating()) else {
            return Ok(());
        };
        let family = AddressFamily::of(service.value());
        let desired = self.desired_endpoints(client, key, service, selector);
        let (current, stale): (Vec<_>, Vec<_>) = self
            .slices
            .get(key)
            .into_iter()
            .flatten()
            .filter_map(|key| client.store().get(key))
            .partition(|slice| {
                let mut owners = slice.owner_references().into_iter();
                owners.any(|owner| owner.uid == service.uid())
                    && text(slice.value(), "/addressType") == family.name()
            });
        let mut changes = desired.changes_from(current);
        changes.deleted.extend(stale);
        write(client, service, family, changes).await
    }

    fn desired_endpoints(
        &self,
        client: &Client,
        key: &Key,
        service: &Object,
        selector: &LabelSelector,
    ) -> DesiredEndpoints {
        let family = AddressFamily::of(service.value());
        let mut desired = DesiredEndpoints::default();
        let keys = self.pods.get(key.namespace().unwrap_or_default());
        let pods = keys
            .into_iter()
            .flatten()
            .filter_map(|key| client.store().get(key))
            .filter(|pod| selects(selector, pod.value()) && should_be_in_endpoints(pod.value()));
        for pod in pods {
            let zone = zone(client, pod.value());
            if let Some(endpoint) = endpoint(&pod, service.value(), family, zone.as_deref()) {
                desired.add(ports(pod.value(), service.value()), pod.uid(), endpoint);
            }
        }
        desired
    }
}

/// The zone of the Pod's node.
fn zone(client: &Client, pod: &Value) -> Option<String> {
    let node = client
        .store()
        .get(&Key::of(&core::NODE, None, node_name(pod)))?;
    let zone = node.label("topology.kubernetes.io/zone")?;
    Some(zone.to_owned()).filter(|zone| !zone.is_empty())
}

async fn write(
    client: &Client,
    service: &Object,
    family: AddressFamily,
    changes: SliceChanges,
) -> Result<(), Status> {
    for content in changes.created {
        let slice = new_slice(service, family, content, &client.timestamp());
        client
            .create(&ENDPOINT_SLICES, service.namespace(), slice)
            .await?;
    }
    for (slice, endpoints) in changes.updated {
        let patch = json!({
            "metadata": {
                "resourceVersion": slice.revision().to_string(),
                "labels": label_changes(service, &slice),
                "annotations": {LAST_CHANGE_TRIGGER_TIME: client.timestamp()},
            },
            "endpoints": endpoints,
        });
        client.patch(&ENDPOINT_SLICES, &slice, patch).await?;
    }
    for slice in changes.unchanged {
        sync_labels(client, service, &slice).await?;
    }
    for slice in changes.deleted {
        delete(client, &slice).await?;
    }
    Ok(())
}

async fn sync_labels(client: &Client, service: &Object, slice: &Arc<Object>) -> Result<(), Status> {
    let labels = label_changes(service, slice);
    if labels.is_empty() {
        return Ok(());
    }
    let patch = json!({"metadata": {"labels": labels}});
    client.patch(&ENDPOINT_SLICES, slice, patch).await
}

async fn delete(client: &Client, slice: &Object) -> Result<(), Status> {
    let options = DeleteOptions {
        uid: slice.uid(),
        ..DeleteOptions::default()
    };
    match client.delete(&ENDPOINT_SLICES, slice, options).await {
        Err(failure) if failure.code == 404 => Ok(()),
        deleted => deleted,
    }
}
