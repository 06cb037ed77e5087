//! Finds the parameter objects of a binding.

use std::sync::Arc;

use kubewright_core::{Kind, LabelSelector};
use kubewright_kinds::json::text;
use kubewright_wire::status::Status;
use serde_json::Value;

use super::definition::{Binding, Policy};
use crate::admission::attributes::AdmissionAttributes;
use crate::admission::context::AdmissionContext;
use crate::admission::matching::converted;
use crate::resources::ServedResource;
use crate::store::{Key, Object};

/// Why the parameter objects of a binding cannot be read.
pub(super) enum ParamsFailure {
    /// Policy and binding contradict each other or the stored objects: the failure policy decides.
    Misconfigured(String),
    /// The request fails, whatever the failure policy.
    Final(Status),
}

impl ParamsFailure {
    fn because(why: &str) -> Self {
        Self::Misconfigured(why.to_owned())
    }
}

/// The message for a `paramKind` that is not served; none for any other.
pub(super) fn unknown_kind(context: &AdmissionContext, policy: &Policy) -> Option<String> {
    let kind = policy.param_kind.as_ref()?;
    match served(context, kind) {
        Some(_) => None,
        None => Some(format!(
            "failed to find resource referenced by paramKind: '{kind}'"
        )),
    }
}

/// The parameter objects of a binding (`CollectParams`). The policy runs once for each, and once
/// without where policy or binding name no parameters.
pub(super) async fn collect(
    context: &AdmissionContext,
    policy: &Policy,
    binding: &Binding,
    attributes: &AdmissionAttributes,
) -> Result<Vec<Option<Value>>, ParamsFailure> {
    let reference = &binding.param_ref;
    let param_kind = policy.param_kind.as_ref();
    let Some(kind) = param_kind.filter(|_| reference.is_object()) else {
        return Ok(vec![None]);
    };
    let Some(served) = served(context, kind) else {
        let why = format!("paramKind kind `{kind}` not known");
        return Err(ParamsFailure::Misconfigured(why));
    };
    let namespace = namespace(reference, &served, attributes)?;
    let found = named_or_selected(context, &served, namespace, reference);
    if found.is_empty() && reference["parameterNotFoundAction"] == "Deny" {
        return Err(ParamsFailure::because(
            "no params found for policy binding with `Deny` parameterNotFoundAction",
        ));
    }
    let mut params = Vec::with_capacity(found.len());
    for object in found {
        let converted = in_version(context, &served, &object).await;
        params.push(Some(converted.map_err(ParamsFailure::Final)?));
    }
    Ok(params)
}

fn served(context: &AdmissionContext, kind: &Kind) -> Option<Arc<ServedResource>> {
    let snapshot = context.store.snapshot();
    context.catalog.stored_as(&snapshot, kind)
}

/// The namespace of the parameter objects: that of the binding, else that of the request.
fn namespace<'a>(
    reference: &'a Value,
    served: &ServedResource,
    attributes: &'a AdmissionAttributes,
) -> Result<Option<&'a str>, ParamsFailure> {
    let namespace = text(&reference["namespace"]);
    if !served.is_namespaced() {
        if namespace.is_empty() {
            return Ok(None);
        }
        return Err(ParamsFailure::because(
            "paramRef.namespace must not be provided for a cluster-scoped `paramKind`",
        ));
    }
    match (namespace, attributes.namespace.as_str()) {
        ("", "") => Err(ParamsFailure::because(
            "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources",
        )),
        ("", of_request) => Ok(Some(of_request)),
        (namespace, _) => Ok(Some(namespace)),
    }
}

fn named_or_selected(
    context: &AdmissionContext,
    served: &ServedResource,
    namespace: Option<&str>,
    reference: &Value,
) -> Vec<Arc<Object>> {
    let name = text(&reference["name"]);
    if !name.is_empty() {
        let key = Key::new(Arc::clone(&served.id), namespace, name);
        return context.store.get(&key).into_iter().collect();
    }
    let selector = LabelSelector::from_object(&reference["selector"]).unwrap_or_default();
    let snapshot = context.store.snapshot();
    let all = snapshot.list(&served.id, namespace);
    all.filter(|object| selector.matches(|label| object.label(label)))
        .cloned()
        .collect()
}

/// A stored object in the version of the policy's `paramKind`.
async fn in_version(
    context: &AdmissionContext,
    served: &ServedResource,
    object: &Arc<Object>,
) -> Result<Value, Status> {
    let kind = served.kind();
    let Some(custom) = served.custom() else {
        let wanted = kind.api_version();
        let mut value = object.value().clone();
        if value["apiVersion"] != wanted.as_str() && !value["apiVersion"].is_null() {
            return Err(Status::not_implemented(format!(
                "conversion of {kind} from its stored version is not implemented yet"
            )));
        }
        value["apiVersion"] = Value::from(wanted);
        value["kind"] = Value::from(kind.kind.as_str());
        return Ok(value);
    };
    let value = custom.restore(object).value().clone();
    converted(context, custom, value, kind).await
}
