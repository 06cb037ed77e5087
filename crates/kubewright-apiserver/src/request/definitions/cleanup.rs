//! Deletes the objects of a CustomResourceDefinition that is being deleted, and then the
//! definition (the finalizer controller of k8s.io/apiextensions-apiserver).

use std::sync::Arc;

use kubewright_kinds::apiextensions::CUSTOM_RESOURCE_DEFINITION;
use serde_json::{Value, json};

use crate::request::api::Api;
use crate::request::conditions::{ConditionStatus, condition, is_condition_true, set_condition};
use crate::request::deletion::{
    DEFINITION_FINALIZER, DeleteOptions, deletion_step, store_deletion,
};
use crate::request::target::Target;
use crate::store::{Expected, Key, Object, metadata_mut};

const MAX_ATTEMPTS: usize = 16;
const MAX_OBJECT_ATTEMPTS: usize = 64;

/// Deletes the objects of a definition that is being deleted, and then the definition.
pub(crate) fn clean_up(api: &Api, name: &str) {
    let Some(definition) = api.store.get(&Key::new(
        CUSTOM_RESOURCE_DEFINITION.resource_id(),
        None,
        name,
    )) else {
        return;
    };
    if !definition.is_terminating() || !has_finalizer(&definition) {
        return;
    }
    if is_established(&definition) {
        report_progress(api, name);
        for object in api.store.list(name, None) {
            if !object.is_terminating() {
                delete_object(api, name, &object);
            }
        }
    }
    finish(api, name);
}

fn has_finalizer(definition: &Object) -> bool {
    definition
        .finalizers()
        .any(|name| name == DEFINITION_FINALIZER)
}

fn is_established(definition: &Object) -> bool {
    is_condition_true(definition.value(), "Established")
}

/// Sets the condition for a deletion in progress.
fn report_progress(api: &Api, name: &str) {
    for _ in 0..MAX_ATTEMPTS {
        let key = Key::new(CUSTOM_RESOURCE_DEFINITION.resource_id(), None, name);
        let Some(definition) = api.store.get(&key) else {
            return;
        };
        let mut value = definition.value().clone();
        let message = "CustomResource deletion is in progress";
        let progress = condition(
            "Terminating",
            ConditionStatus::True,
            "InstanceDeletionInProgress",
            message,
        );
        set_condition(&mut value, progress, &api.timestamp());
        let is_unchanged = value == *definition.value();
        let expected = Expected::At(definition.revision());
        if is_unchanged || api.store.put(key, expected, value).is_ok() {
            return;
        }
    }
}

/// Deletes an object of a definition. As in Kubernetes, admission does not see it.
fn delete_object(api: &Api, resource: &str, object: &Object) {
    let snapshot = api.store.snapshot();
    let versions = api.catalog.versions(&snapshot, resource);
    let Some(served) = versions.first() else {
        return;
    };
    let target = Target {
        resource: Arc::clone(served),
        namespace: object.namespace().map(str::to_owned),
        name: Some(object.name().to_owned()),
    };
    let options = DeleteOptions::default();
    for _ in 0..MAX_OBJECT_ATTEMPTS {
        let Some(old) = api.store.get(&target.key(object.name())) else {
            return;
        };
        let step = deletion_step(&target, &old, &options, api.clock.now());
        if store_deletion(&api.store, &target, &old, step).is_ok() {
            return;
        }
    }
    tracing::debug!(
        object = object.name(),
        "an object of a deleted definition keeps changing"
    );
}

/// Removes the finalizer of a definition that is being deleted, if this object was its last.
pub(crate) fn object_removed(api: &Api, resource: &str) {
    let key = Key::new(CUSTOM_RESOURCE_DEFINITION.resource_id(), None, resource);
    let is_waiting = api
        .store
        .get(&key)
        .is_some_and(|definition| definition.is_terminating());
    if is_waiting {
        finish(api, resource);
    }
}

/// Removes the finalizer once no object is left.
fn finish(api: &Api, name: &str) {
    for _ in 0..MAX_ATTEMPTS {
        let key = Key::new(CUSTOM_RESOURCE_DEFINITION.resource_id(), None, name);
        let Some(definition) = api.store.get(&key) else {
            return;
        };
        let has_objects = api.store.snapshot().list(name, None).next().is_some();
        if !has_finalizer(&definition) || has_objects {
            return;
        }
        let remaining: Vec<&str> = definition
            .finalizers()
            .filter(|name| *name != DEFINITION_FINALIZER)
            .collect();
        let written = if remaining.is_empty() {
            api.store.remove(key, definition.revision())
        } else {
            let mut value = definition.value().clone();
            set_condition(&mut value, completed(&definition), &api.timestamp());
            metadata_mut(&mut value).insert("finalizers".to_owned(), json!(remaining));
            let expected = Expected::At(definition.revision());
            api.store.put(key, expected, value)
        };
        if written.is_ok() {
            return;
        }
    }
}

/// The condition of a definition that only other finalizers keep.
fn completed(definition: &Object) -> Value {
    let (reason, message) = if is_established(definition) {
        ("InstanceDeletionCompleted", "removed all instances")
    } else {
        ("NeverEstablished", "resource was never established")
    };
    condition("Terminating", ConditionStatus::False, reason, message)
}
