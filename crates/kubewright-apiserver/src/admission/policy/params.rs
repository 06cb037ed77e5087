use std::sync::Arc;

use kubewright_core::{Kind, LabelSelector};
use kubewright_wire::status::Status;
use serde_json::Value;

use super::definition::{Binding, Policy};
use crate::admission::attributes::Attributes;
use crate::admission::context::AdmissionContext;
use crate::admission::matching::converted;
use crate::resources::ServedResource;
use crate::store::{Key, Object};

/// Why there are no params for a binding.
pub(super) enum NoParams {
    /// Policy and binding do not fit what is there: what the failure policy is for.
    Misconfigured(String),
    /// They cannot be had.
    Final(Status),
}

impl NoParams {
    fn because(why: &str) -> Self {
        Self::Misconfigured(why.to_owned())
    }
}

/// What is wrong with the kind of params that a policy asks for: nothing serves it.
pub(super) fn unknown_kind(context: &AdmissionContext, policy: &Policy) -> Option<String> {
    let kind = policy.param_kind.as_ref()?;
    match served(context, kind) {
        Some(_) => None,
        None => Some(format!(
            "failed to find resource referenced by paramKind: '{kind}'"
        )),
    }
}

/// What a binding gives to the expressions of its policy: each of the params is asked about alone,
/// none where policy or binding ask for none (`CollectParams`).
pub(super) async fn collect(
    context: &AdmissionContext,
    policy: &Policy,
    binding: &Binding,
    attributes: &Attributes,
) -> Result<Vec<Option<Value>>, NoParams> {
    let reference = &binding.param_ref;
    let (Some(kind), true) = (&policy.param_kind, reference.is_object()) else {
        return Ok(vec![None]);
    };
    let Some(served) = served(context, kind) else {
        let why = format!("paramKind kind `{kind}` not known");
        return Err(NoParams::Misconfigured(why));
    };
    let namespace = namespace(reference, &served, attributes)?;
    let found = named_or_selected(context, &served, namespace, reference);
    if found.is_empty() && reference["parameterNotFoundAction"] == "Deny" {
        return Err(NoParams::because(
            "no params found for policy binding with `Deny` parameterNotFoundAction",
        ));
    }
    let mut params = Vec::with_capacity(found.len());
    for object in found {
        let shown = in_version(context, &served, &object).await;
        params.push(Some(shown.map_err(NoParams::Final)?));
    }
    Ok(params)
}

fn served(context: &AdmissionContext, kind: &Kind) -> Option<Arc<ServedResource>> {
    let snapshot = context.store.snapshot();
    context.catalog.stored_as(&snapshot, kind)
}

/// Params are in the namespace of the request unless the binding names one.
fn namespace<'a>(
    reference: &'a Value,
    served: &ServedResource,
    attributes: &'a Attributes,
) -> Result<Option<&'a str>, NoParams> {
    let given = reference["namespace"].as_str().unwrap_or_default();
    match (served.is_namespaced(), given) {
        (true, "") if attributes.namespace.is_empty() => Err(NoParams::because(
            "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources",
        )),
        (true, "") => Ok(Some(attributes.namespace.as_str())),
        (true, given) => Ok(Some(given)),
        (false, "") => Ok(None),
        (false, _) => Err(NoParams::because(
            "paramRef.namespace must not be provided for a cluster-scoped `paramKind`",
        )),
    }
}

fn named_or_selected(
    context: &AdmissionContext,
    served: &ServedResource,
    namespace: Option<&str>,
    reference: &Value,
) -> Vec<Arc<Object>> {
    let name = reference["name"].as_str().unwrap_or_default();
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

/// A stored object in the version that the policy asks for.
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
