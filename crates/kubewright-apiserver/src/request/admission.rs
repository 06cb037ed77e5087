use std::collections::BTreeSet;

use kubewright_wire::status::{Cause, CauseKind, Status};
use serde_json::Value;

use super::target::Target;
use crate::admission::{self, Attributes};
use crate::crd::{DEFINITIONS, terminating_definition};
use crate::may::{Grant, Policy};
use crate::server::Server;
use crate::store::{Key, Object, Seen, metadata_mut};
use crate::who::User;

/// What stands between decoding and validation of a new object: nothing is created in a
/// namespace that is not there or is going (`NamespaceLifecycle`).
///
/// Returns what was decided by: the object may be stored only while that holds.
pub(super) fn admit_create(
    server: &Server,
    target: &Target,
    name: &str,
) -> Result<Vec<Seen>, Status> {
    let mut decided_by = Vec::new();
    if target.served.custom().is_some() {
        decided_by.push(definition(server, target, name)?);
    }
    let Some(namespace) = &target.namespace else {
        return Ok(decided_by);
    };
    let key = Key::new("namespaces", None, namespace);
    let Some(stored) = server.store().get(&key) else {
        return Err(Status::not_found(("", "namespaces"), namespace));
    };
    if !stored.is_terminating() {
        decided_by.push(Seen {
            revision: stored.revision(),
            key,
        });
        return Ok(decided_by);
    }
    let why = format!(
        "unable to create new content in namespace {namespace} because it is being terminated"
    );
    let cause = Cause {
        kind: Some(CauseKind::Other("NamespaceTerminating".to_owned())),
        message: format!("namespace {namespace} is being terminated"),
        field: "metadata.namespace".to_owned(),
    };
    Err(Status::forbidden(&target.served.resource, name, &why).with_cause(cause))
}

/// The definition of a custom resource, which must not be going.
fn definition(server: &Server, target: &Target, name: &str) -> Result<Seen, Status> {
    let key = Key::new(DEFINITIONS, None, &target.served.id);
    let stored = server.store().get(&key);
    let stored = stored.ok_or_else(Status::unknown_resource)?;
    if stored.is_terminating() {
        return Err(terminating_definition(&target.served.resource, name));
    }
    Ok(Seen {
        revision: stored.revision(),
        key,
    })
}

/// Whether the user may write this object, if it is a role or a binding: he must hold what it
/// gives.
pub(super) fn may_grant(
    server: &Server,
    target: &Target,
    user: &User,
    old: Option<&Object>,
    new: &Value,
) -> Result<(), Status> {
    if target.kind().group() != Policy::GROUP {
        return Ok(());
    }
    server.access().may_grant(&Grant {
        user,
        plural: &target.served.resource.plural,
        namespace: target.namespace.as_deref().unwrap_or_default(),
        name: target.name.as_deref().unwrap_or_default(),
        old,
        new,
    })
}

/// Everything that may change an object on its way to the store.
pub(super) fn mutate(
    server: &Server,
    target: &Target,
    old: Option<&Object>,
    value: &mut Value,
) -> Result<(), Status> {
    // What is changed is not counted: nothing depends on whether it will be stored.
    admission::mutate(&attributes(server, target, old, true), value)
}

/// Everything that may refuse an object as it would be stored.
pub(super) fn validate(
    server: &Server,
    target: &Target,
    old: Option<&Object>,
    (value, is_dry_run): (&Value, bool),
) -> Result<(), Status> {
    admission::validate(&attributes(server, target, old, is_dry_run), value)
}

/// What counts an object as it would be stored, the last of all.
pub(super) fn charge(
    server: &Server,
    target: &Target,
    old: Option<&Object>,
    (value, is_dry_run): (&Value, bool),
) -> Result<(), Status> {
    admission::charge(&attributes(server, target, old, is_dry_run), value)
}

fn attributes<'a>(
    server: &'a Server,
    target: &'a Target,
    old: Option<&'a Object>,
    is_dry_run: bool,
) -> Attributes<'a> {
    Attributes {
        server,
        served: &target.served,
        namespace: target.namespace.as_deref(),
        old,
        is_dry_run,
    }
}

/// Drops owners that stand twice; the second value is what the client is told.
pub(super) fn drop_duplicate_owners(value: &mut Value) -> Vec<String> {
    let metadata = metadata_mut(value);
    let Some(owners) = metadata
        .get_mut("ownerReferences")
        .and_then(Value::as_array_mut)
    else {
        return Vec::new();
    };
    let mut seen = BTreeSet::new();
    let mut duplicates = BTreeSet::new();
    owners.retain(|owner| {
        let is_first = seen.insert(owner.to_string());
        if !is_first {
            duplicates.insert(owner["uid"].as_str().unwrap_or_default().to_owned());
        }
        is_first
    });
    match duplicates.is_empty() {
        true => Vec::new(),
        false => {
            let uids: Vec<String> = duplicates.into_iter().collect();
            vec![format!(
                ".metadata.ownerReferences contains duplicate entries; API server dedups owner \
                 references in 1.20+, and may reject such requests as early as 1.24; please fix \
                 your requests; duplicate UID(s) observed: {}",
                uids.join(", ")
            )]
        }
    }
}
