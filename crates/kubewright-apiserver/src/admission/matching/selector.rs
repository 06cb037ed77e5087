//! Matches a request with the namespace and object selectors of a webhook or policy.

use kubewright_core::{LabelSelector, Operation};
use kubewright_kinds::core::NAMESPACE;
use kubewright_wire::status::Status;
use serde_json::Value;

use crate::admission::attributes::AdmissionAttributes;
use crate::admission::context::AdmissionContext;
use crate::store::Key;

/// Whether the selector matches the labels of the request's namespace; 404 when that does not
/// exist.
pub(super) fn matches_namespace(
    context: &AdmissionContext,
    selector: &LabelSelector,
    attributes: &AdmissionAttributes,
) -> Result<bool, Status> {
    let is_namespace = attributes.resource.is(&NAMESPACE);
    if selector.is_empty() || attributes.namespace.is_empty() && !is_namespace {
        return Ok(true);
    }
    if is_namespace && attributes.is_main() && attributes.is_write() {
        return Ok(matches_labels(selector, attributes.object.as_ref()));
    }
    let key = Key::new(NAMESPACE.resource_id(), None, &attributes.namespace);
    match context.store.get(&key) {
        Some(namespace) => Ok(selector.matches(|label| namespace.label(label))),
        None => {
            let resource = NAMESPACE.as_resource_tuple();
            Err(Status::not_found(resource, &attributes.namespace))
        }
    }
}

/// Whether the selector matches the new or the stored object: removing a label does not hide the
/// request that removes it.
///
/// The options of a connection have no metadata. No selector matches them, not even one for the
/// absence of a label.
pub(super) fn matches_object(selector: &LabelSelector, attributes: &AdmissionAttributes) -> bool {
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
