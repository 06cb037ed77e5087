//! New EndpointSlices, and the labels of all slices of a Service.

use kubewright_apiserver::store::Object;
use kubewright_core::OwnerReference;
use kubewright_kinds::discovery;
use serde_json::{Map, Value, json};

use super::endpoint::AddressFamily;
use super::slices::SliceContent;
use crate::framework::{SERVICES, text};

pub(super) const SERVICE_NAME: &str = "kubernetes.io/service-name";
pub(super) const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";
pub(super) const MANAGER: &str = "endpointslice-controller.k8s.io";
pub(super) const LAST_CHANGE_TRIGGER_TIME: &str =
    "endpoints.kubernetes.io/last-change-trigger-time";
const HEADLESS: &str = "service.kubernetes.io/headless";

/// A new slice of a Service.
pub(super) fn new_slice(
    service: &Object,
    family: AddressFamily,
    content: SliceContent,
    now: &str,
) -> Value {
    let null_if_empty = |items: Vec<Value>| {
        if items.is_empty() {
            Value::Null
        } else {
            items.into()
        }
    };
    let owner = OwnerReference::controller(&SERVICES.kind, service.name(), service.uid());
    json!({
        "apiVersion": "discovery.k8s.io/v1",
        "kind": discovery::ENDPOINT_SLICE.kind,
        "metadata": {
            "generateName": format!("{}-", service.name()),
            "labels": labels(service),
            "annotations": {LAST_CHANGE_TRIGGER_TIME: now},
            "ownerReferences": [owner],
        },
        "addressType": family.name(),
        "endpoints": null_if_empty(content.endpoints),
        "ports": null_if_empty(content.ports),
    })
}

/// The labels of a Service's slices: those of the Service, its name, and the manager.
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

/// The labels that a slice lacks, has with another value, or must lose, as fields of a merge patch.
pub(super) fn label_changes(service: &Object, slice: &Object) -> Map<String, Value> {
    let wanted = labels(service);
    let stored = slice.metadata("labels").and_then(Value::as_object);
    let present = stored.cloned().unwrap_or_default();
    let removed = present
        .keys()
        .filter(|key| !wanted.contains_key(*key))
        .map(|key| (key.clone(), Value::Null));
    let added = wanted
        .iter()
        .filter(|(key, value)| present.get(*key) != Some(*value))
        .map(|(key, value)| (key.clone(), value.clone()));
    removed.chain(added).collect()
}
