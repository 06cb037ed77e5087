use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kubewright_core::{LabelSelector, OwnerReference};
use kubewright_wire::status::Status;
use serde_json::{Map, Value, json};

use super::endpoint::{Family, endpoint, is_reachable, ports};
use super::slices::Wanted;
use crate::client::{Deletion, ENDPOINT_SLICES, SERVICES};
use crate::selection::{equality_selector, selects};
use crate::view::text;
use crate::{Client, Controller, Event, Step, Work};
use kubewright_apiserver::store::{Key, Object};

const SLICE_KEYS: &str = "endpointslices.discovery.k8s.io";
const SERVICE_NAME: &str = "kubernetes.io/service-name";
const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";
const MANAGER: &str = "endpointslice-controller.k8s.io";
const HEADLESS: &str = "service.kubernetes.io/headless";
const TRIGGER: &str = "endpoints.kubernetes.io/last-change-trigger-time";

/// Keeps the EndpointSlices of Services.
#[derive(Debug, Default)]
pub(crate) struct EndpointSlices {
    selectors: BTreeMap<Key, LabelSelector>,
    /// The Pods of each namespace.
    pods: BTreeMap<String, BTreeSet<Key>>,
    /// The slices of each Service.
    slices: BTreeMap<Key, BTreeSet<Key>>,
    work: Work<Key>,
}

impl Controller for EndpointSlices {
    fn observe(&mut self, event: &Event<'_>) {
        match event.key.resource() {
            "services" => self.observe_service(event),
            "pods" => self.observe_pod(event),
            SLICE_KEYS => self.observe_slice(event),
            _ => {}
        }
    }

    async fn step(&mut self, cluster: &Client) -> Step {
        let Some(key) = self.work.next() else {
            return self.work.idle();
        };
        let result = match cluster.store().get(&key) {
            Some(service) => self.sync(cluster, &key, &service).await,
            None => Ok(()),
        };
        self.work.settle_insistently(key, result);
        Step::Worked
    }
}

impl EndpointSlices {
    fn observe_service(&mut self, event: &Event<'_>) {
        let selector = |service: &Object| {
            let is_external = text(service.value(), "/spec/type") == "ExternalName";
            let selector = service.value().pointer("/spec/selector");
            equality_selector(selector.filter(|_| !is_external))
        };
        match event.now.and_then(|service| selector(service)) {
            Some(selector) => self.selectors.insert(event.key.clone(), selector),
            None => self.selectors.remove(event.key),
        };
        if event.now.is_some() {
            self.work.add(event.key.clone());
        }
    }

    fn observe_pod(&mut self, event: &Event<'_>) {
        let namespace = event.key.namespace();
        let pods = self
            .pods
            .entry(namespace.unwrap_or_default().to_owned())
            .or_default();
        match event.now {
            Some(_) => pods.insert(event.key.clone()),
            None => pods.remove(event.key),
        };
        for pod in [event.before, event.now].into_iter().flatten() {
            let services = self.selectors.iter();
            let concerned = services.filter(|(key, selector)| {
                key.namespace() == namespace && selects(selector, pod.value())
            });
            for (key, _) in concerned {
                self.work.add(key.clone());
            }
        }
    }

    fn observe_slice(&mut self, event: &Event<'_>) {
        let namespace = event.key.namespace();
        for slice in [event.before, event.now].into_iter().flatten() {
            let is_ours = slice.label(MANAGED_BY) == Some(MANAGER);
            let Some(name) = slice.label(SERVICE_NAME).filter(|_| is_ours) else {
                continue;
            };
            let service = Key::new("services", namespace, name);
            let slices = self.slices.entry(service.clone()).or_default();
            match event.now {
                Some(_) => slices.insert(event.key.clone()),
                None => slices.remove(event.key),
            };
            self.work.add(service);
        }
    }

    async fn sync(&self, cluster: &Client, key: &Key, service: &Object) -> Result<(), Status> {
        let Some(selector) = self
            .selectors
            .get(key)
            .filter(|_| !service.is_terminating())
        else {
            return Ok(());
        };
        let family = Family::of(service.value());
        let mut wanted = Wanted::default();
        let keys = self.pods.get(key.namespace().unwrap_or_default());
        let pods = keys
            .into_iter()
            .flatten()
            .filter_map(|key| cluster.store().get(key));
        for pod in pods.filter(|pod| selects(selector, pod.value()) && is_reachable(pod.value())) {
            let zone = zone(cluster, pod.value());
            if let Some(endpoint) = endpoint(&pod, service.value(), family, zone.as_deref()) {
                wanted.add(ports(pod.value(), service.value()), pod.uid(), endpoint);
            }
        }
        let slices = self.slices.get(key).into_iter().flatten();
        let slices = slices.filter_map(|key| cluster.store().get(key));
        let (own, foreign): (Vec<_>, Vec<_>) = slices.partition(|slice| {
            let mut owners = slice.owner_references().into_iter();
            owners.any(|owner| owner.uid == service.uid())
                && text(slice.value(), "/addressType") == family.name()
        });
        let mut changes = wanted.against(own);
        changes.deleted.extend(foreign);
        for (ports, endpoints) in changes.made {
            let slice = new_slice(cluster, service, family, (ports, endpoints));
            cluster
                .create(&ENDPOINT_SLICES, service.namespace(), slice)
                .await?;
        }
        for (slice, endpoints) in changes.changed {
            let patch = json!({
                "metadata": {
                    "resourceVersion": slice.revision().to_string(),
                    "labels": label_changes(service, &slice),
                    "annotations": {TRIGGER: cluster.timestamp()},
                },
                "endpoints": endpoints,
            });
            cluster.patch(&ENDPOINT_SLICES, &slice, patch).await?;
        }
        for slice in changes.kept {
            relabel(cluster, service, &slice).await?;
        }
        for slice in changes.deleted {
            delete(cluster, &slice).await?;
        }
        Ok(())
    }
}

/// The zone of the Pod's node.
fn zone(cluster: &Client, pod: &Value) -> Option<String> {
    let node = Key::new("nodes", None, text(pod, "/spec/nodeName"));
    let node = cluster.store().get(&node)?;
    let zone = node.label("topology.kubernetes.io/zone")?;
    Some(zone.to_owned()).filter(|zone| !zone.is_empty())
}

fn new_slice(
    cluster: &Client,
    service: &Object,
    family: Family,
    (ports, endpoints): (Vec<Value>, Vec<Value>),
) -> Value {
    let some = |items: Vec<Value>| match items.is_empty() {
        true => Value::Null,
        false => items.into(),
    };
    let owner = OwnerReference::controller(&SERVICES.kind, service.name(), service.uid());
    json!({
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "generateName": format!("{}-", service.name()),
            "labels": labels(service),
            "annotations": {TRIGGER: cluster.timestamp()},
            "ownerReferences": [owner],
        },
        "addressType": family.name(),
        "endpoints": some(endpoints),
        "ports": some(ports),
    })
}

/// The labels of a Service's slices: its own, and those that say whose they are.
fn labels(service: &Object) -> Map<String, Value> {
    let own = service.metadata("labels").and_then(Value::as_object);
    let mut labels = own.cloned().unwrap_or_default();
    let address = text(service.value(), "/spec/clusterIP");
    labels.remove(HEADLESS);
    if matches!(address, "" | "None") {
        labels.insert(HEADLESS.to_owned(), "".into());
    }
    labels.insert(SERVICE_NAME.to_owned(), service.name().into());
    labels.insert(MANAGED_BY.to_owned(), MANAGER.into());
    labels
}

/// The labels that a slice lacks, has wrong, or has no longer, as members of a patch.
fn label_changes(service: &Object, slice: &Object) -> Map<String, Value> {
    let wanted = labels(service);
    let present = slice.metadata("labels").and_then(Value::as_object);
    let present = present.cloned().unwrap_or_default();
    let gone = present.keys().filter(|key| !wanted.contains_key(*key));
    let gone = gone.map(|key| (key.clone(), Value::Null));
    let new = wanted
        .iter()
        .filter(|(key, value)| present.get(*key) != Some(*value));
    let new = new.map(|(key, value)| (key.clone(), value.clone()));
    gone.chain(new).collect()
}

async fn relabel(cluster: &Client, service: &Object, slice: &Arc<Object>) -> Result<(), Status> {
    let labels = label_changes(service, slice);
    if labels.is_empty() {
        return Ok(());
    }
    let patch = json!({"metadata": {"labels": labels}});
    cluster.patch(&ENDPOINT_SLICES, slice, patch).await
}

async fn delete(cluster: &Client, slice: &Object) -> Result<(), Status> {
    let deletion = Deletion {
        uid: slice.uid(),
        ..Deletion::default()
    };
    match cluster.delete(&ENDPOINT_SLICES, slice, deletion).await {
        Err(failure) if failure.code == 404 => Ok(()),
        other => other,
    }
}
