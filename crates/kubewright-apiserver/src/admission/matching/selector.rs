use kubewright_core::{LabelSelector, Operation};
use kubewright_kinds::core::NAMESPACE;
use kubewright_wire::status::Status;
use serde_json::Value;

use crate::admission::attributes::Attributes;
use crate::admission::context::AdmissionContext;
use crate::store::Key;

/// An error is one that only counts when the rules match.
pub(super) fn matches_namespace(
    context: &AdmissionContext,
    selector: &LabelSelector,
    attributes: &Attributes,
) -> Result<bool, Status> {
    let is_namespace = attributes.resource.is(&NAMESPACE);
    if selector.is_empty() || attributes.namespace.is_empty() && !is_namespace {
        return Ok(true);
    }
    let is_written = matches!(attributes.operation, Operation::Create | Operation::Update);
    if is_namespace && attributes.subresource.is_empty() && is_written {
        return Ok(matches_labels(selector, attributes.object.as_ref()));
    }
    let key = Key::new("namespaces", None, &attributes.namespace);
    match context.store.get(&key) {
        Some(namespace) => Ok(selector.matches(|label| namespace.label(label))),
        None => Err(Status::not_found(("", "namespaces"), &attributes.namespace)),
    }
}

/// What is or what was: a label that is taken away does not hide the request that does so. The
/// options of a connection have no metadata, which no selector matches, not even one for the absence
/// of a label.
pub(super) fn matches_object(selector: &LabelSelector, attributes: &Attributes) -> bool {
    if selector.is_empty() {
        return true;
    }
    attributes.operation != Operation::Connect
        && (matches_labels(selector, attributes.object.as_ref())
            || matches_labels(selector, attributes.old()))
}

fn matches_labels(selector: &LabelSelector, object: Option<&Value>) -> bool {
    let Some(object) = object else {
        return false;
    };
    let labels = &object["metadata"]["labels"];
    selector.matches(|label| labels.get(label).and_then(Value::as_str))
}
