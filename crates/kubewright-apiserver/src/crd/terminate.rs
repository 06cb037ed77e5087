use serde_json::{Value, json};

use super::DEFINITIONS;
use super::names::{condition, condition_is_true, set_condition};
use crate::request::delete_instance;
use crate::server::Server;
use crate::store::{Expected, Key, Object, metadata_mut};

const FINALIZER: &str = "customresourcecleanup.apiextensions.k8s.io";
const ATTEMPTS: usize = 16;

/// A definition whose deletion was asked for.
pub(crate) fn terminating(old: &Object, now: &str) -> Value {
    let mut value = old.value().clone();
    let mut finalizers: Vec<String> = old.finalizers().map(str::to_owned).collect();
    if !finalizers.iter().any(|name| name == FINALIZER) {
        finalizers.push(FINALIZER.to_owned());
    }
    let metadata = metadata_mut(&mut value);
    metadata.insert("finalizers".to_owned(), json!(finalizers));
    metadata.insert("deletionTimestamp".to_owned(), json!(now));
    let message = "CustomResourceDefinition marked for deletion; CustomResource deletion will \
                   begin soon";
    let going = condition("Terminating", true, "InstanceDeletionPending", message);
    set_condition(&mut value, going, now);
    value
}

/// Deletes the objects of a definition that is going, and then the definition.
pub(crate) fn clean_up(server: &Server, name: &str) {
    let Some(definition) = server.store().get(&Key::new(DEFINITIONS, None, name)) else {
        return;
    };
    let ours = definition.finalizers().any(|one| one == FINALIZER);
    if !definition.is_terminating() || !ours {
        return;
    }
    if is_established(&definition) {
        tell_progress(server, name);
        for instance in server.store().list(name, None) {
            if !instance.is_terminating() {
                delete_instance(server, name, &instance);
            }
        }
    }
    finish(server, name);
}

fn is_established(definition: &Object) -> bool {
    condition_is_true(definition.value(), "Established")
}

/// Says that the objects are going now.
fn tell_progress(server: &Server, name: &str) {
    let store = server.store();
    for _ in 0..ATTEMPTS {
        let key = Key::new(DEFINITIONS, None, name);
        let Some(definition) = store.get(&key) else {
            return;
        };
        let mut value = definition.value().clone();
        let message = "CustomResource deletion is in progress";
        let going = condition("Terminating", true, "InstanceDeletionInProgress", message);
        set_condition(&mut value, going, &server.timestamp());
        let is_told = value == *definition.value();
        let expected = Expected::At(definition.revision());
        if is_told || store.put(key, expected, value).is_ok() {
            return;
        }
    }
}

/// Called when an object is gone: it may have been the last that its definition waited for.
pub(crate) fn instance_gone(server: &Server, resource: &str) {
    let key = Key::new(DEFINITIONS, None, resource);
    let waits = server
        .store()
        .get(&key)
        .is_some_and(|definition| definition.is_terminating());
    if waits {
        finish(server, resource);
    }
}

/// Takes the finalizer away once no object is left.
fn finish(server: &Server, name: &str) {
    let store = server.store();
    for _ in 0..ATTEMPTS {
        let key = Key::new(DEFINITIONS, None, name);
        let Some(definition) = store.get(&key) else {
            return;
        };
        let is_held = definition.finalizers().any(|one| one == FINALIZER);
        if !is_held || store.snapshot().list(name, None).next().is_some() {
            return;
        }
        let left: Vec<&str> = definition
            .finalizers()
            .filter(|one| *one != FINALIZER)
            .collect();
        let written = if left.is_empty() {
            store.remove(key, definition.revision())
        } else {
            let mut value = definition.value().clone();
            set_condition(&mut value, ended(&definition), &server.timestamp());
            metadata_mut(&mut value).insert("finalizers".to_owned(), json!(left));
            store.put(key, Expected::At(definition.revision()), value)
        };
        if written.is_ok() {
            return;
        }
    }
}

/// What is told of a definition that only others still hold.
fn ended(definition: &Object) -> Value {
    let (reason, message) = match is_established(definition) {
        true => ("InstanceDeletionCompleted", "removed all instances"),
        false => ("NeverEstablished", "resource was never established"),
    };
    condition("Terminating", false, reason, message)
}
