//! NamespaceLifecycle: no object is created in a namespace that is missing or being deleted, and
//! the namespaces `default`, `kube-system` and `kube-public` cannot be deleted
//! (k8s.io/apiserver/pkg/admission/plugin/namespace/lifecycle).

use kubewright_core::{Operation, Resource};
use kubewright_kinds::core::NAMESPACE;
use kubewright_kinds::json::text;
use kubewright_wire::status::{Cause, CauseKind, Status};

use crate::admission::attributes::AdmissionAttributes;
use crate::admission::context::AdmissionContext;
use crate::store::{Key, ObservedRevision, Store};

/// Denies requests and changes nothing. Kubernetes runs it in the mutating phase, so that it denies
/// before other plugins and webhooks see the object.
pub(super) fn mutate(
    context: &AdmissionContext,
    attributes: &mut AdmissionAttributes,
) -> Result<(), Status> {
    if !attributes.is_main() {
        return Ok(());
    }
    let resource = &attributes.resource;
    let is_namespace = resource.is(&NAMESPACE);
    match attributes.operation {
        Operation::Delete
            if is_namespace
                && NAMESPACE
                    .protected_names
                    .contains(&attributes.name.as_str()) =>
        {
            let why = "this namespace may not be deleted";
            Err(Status::forbidden(&resource.resource, &attributes.name, why))
        }
        Operation::Create if resource.is_namespaced() => {
            let name = text(&attributes.object()["metadata"]["name"]);
            let (resource, namespace) = (&resource.resource, &attributes.namespace);
            check_namespace(&context.store, resource, namespace, name).map(drop)
        }
        _ => Ok(()),
    }
}

/// Checks that a namespace exists and is not being deleted. Returns its revision: an object can be
/// created only while that is current.
pub(crate) fn check_namespace(
    store: &Store,
    resource: &Resource,
    namespace: &str,
    name: &str,
) -> Result<ObservedRevision, Status> {
    let key = Key::new(NAMESPACE.resource_id(), None, namespace);
    let Some(stored) = store.get(&key) else {
        return Err(Status::not_found(NAMESPACE.as_resource_tuple(), namespace));
    };
    if !stored.is_terminating() {
        return Ok(ObservedRevision {
            revision: stored.revision(),
            key,
        });
    }
    let why = format!(
        "unable to create new content in namespace {namespace} because it is being terminated"
    );
    let cause = Cause {
        kind: Some(CauseKind::Other("NamespaceTerminating".to_owned())),
        message: format!("namespace {namespace} is being terminated"),
        field: "metadata.namespace".to_owned(),
    };
    Err(Status::forbidden(resource, name, &why).with_cause(cause))
}
