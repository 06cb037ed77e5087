//! The namespace and the definition of a new object, which must exist when it is stored.

use kubewright_kinds::apiextensions::CUSTOM_RESOURCE_DEFINITION;
use kubewright_kinds::json::text;
use kubewright_wire::status::Status;
use serde_json::Value;

use crate::admission::{AdmissionPlugin, check_namespace};
use crate::request::api::Api;
use crate::request::target::Target;
use crate::resources::terminating_definition;
use crate::store::{Key, Object, ObservedRevision};

/// The states of the namespace and the definition of a new object, which is stored only while they
/// are current. An error when one of them is missing or being deleted.
pub(super) fn guards(
    api: &Api,
    target: &Target,
    old: Option<&Object>,
    object: &Value,
) -> Result<Vec<ObservedRevision>, Status> {
    let mut guards = Vec::new();
    if old.is_some() {
        return Ok(guards);
    }
    let name = text(&object["metadata"]["name"]);
    guards.extend(definition(api, target, name)?);
    let plugins = api.admission.plugins();
    if let Some(namespace) = &target.namespace
        && plugins.is_enabled(AdmissionPlugin::NamespaceLifecycle)
    {
        let resource = &target.resource.resource;
        guards.push(check_namespace(&api.store, resource, namespace, name)?);
    }
    Ok(guards)
}

/// Checks that the definition of a new custom resource is not being deleted.
pub(super) fn check_definition(
    api: &Api,
    target: &Target,
    old: Option<&Object>,
    object: &Value,
) -> Result<(), Status> {
    if old.is_some() {
        return Ok(());
    }
    let name = text(&object["metadata"]["name"]);
    definition(api, target, name).map(drop)
}

fn definition(api: &Api, target: &Target, name: &str) -> Result<Option<ObservedRevision>, Status> {
    if target.resource.custom().is_none() {
        return Ok(None);
    }
    let definitions = CUSTOM_RESOURCE_DEFINITION.resource_id();
    let key = Key::new(definitions, None, &target.resource.id);
    let stored = api.store.get(&key).ok_or_else(Status::unknown_resource)?;
    if stored.is_terminating() {
        return Err(terminating_definition(&target.resource.resource, name));
    }
    Ok(Some(ObservedRevision {
        revision: stored.revision(),
        key,
    }))
}
