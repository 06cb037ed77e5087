//! The attributes of a request for admission.

use std::sync::Arc;

use kubewright_core::Operation;
use kubewright_kinds::core::NAMESPACE;
use kubewright_kinds::json::text;
use serde_json::Value;

use crate::admission::{AdmissionAttributes, OperationOptions};
use crate::request::message::ApiRequest;
use crate::request::options::DryRun;
use crate::request::target::Target;

/// The attributes of a request with its new object, without the stored one. A deletion has options
/// of its own.
pub(crate) fn attributes(
    target: &Target,
    request: &ApiRequest,
    operation: Operation,
    dry_run: DryRun,
    object: Option<Value>,
) -> AdmissionAttributes {
    let subresource = request.route.subresource.clone().unwrap_or_default();
    let kind = match target.resource.subresource(&subresource) {
        Some(subresource) => subresource.kind.clone(),
        None => target.kind().clone(),
    };
    let name = match (&target.name, &object) {
        (Some(name), _) => name.clone(),
        (None, Some(object)) => text(&object["metadata"]["name"]).to_owned(),
        (None, None) => String::new(),
    };
    let namespace = if target.resource.is(&NAMESPACE) {
        name.clone()
    } else {
        target.namespace.clone().unwrap_or_default()
    };
    AdmissionAttributes {
        resource: Arc::clone(&target.resource),
        kind,
        subresource,
        operation,
        name,
        namespace,
        user: request.user.clone(),
        is_dry_run: dry_run == DryRun::Yes,
        options: options(request),
        object,
        old: None,
    }
}

fn options(request: &ApiRequest) -> OperationOptions {
    let parameter = |name: &str| request.query.get(name).unwrap_or_default().to_owned();
    OperationOptions {
        field_manager: parameter("fieldManager"),
        field_validation: parameter("fieldValidation"),
        delete_options: Value::Null,
    }
}
