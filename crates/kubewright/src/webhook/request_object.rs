//! Reads and writes the objects of an admission request.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use kubewright_core::Operation;
use kubewright_webhook::review::{AdmissionRequest, AdmissionResponse};
use kubewright_wire::status::Status;
use serde_json::Value;

use super::environment::HandlerEnvironment;
use crate::kinds::AnyKind;

/// A webhook's function without the type of its kind.
pub(super) type Handler = Arc<
    dyn Fn(AdmissionRequest, HandlerEnvironment) -> BoxFuture<'static, AdmissionResponse>
        + Send
        + Sync,
>;

/// Whether the object is being deleted and only its metadata changes.
///
/// Such a request passes without a call of the function: a finalizer must be removable even if the
/// rest of the object is invalid. API servers that evaluate the condition
/// [`NamedExpression::not_finalizing`](kubewright_core::NamedExpression) do not send the request.
pub(super) fn is_only_finalizing(request: &AdmissionRequest) -> bool {
    let is_deleted = !request.old_object["metadata"]["deletionTimestamp"].is_null();
    let without_metadata = |object: &Value| {
        let mut object = object.clone();
        if let Some(members) = object.as_object_mut() {
            members.remove("metadata");
        }
        object
    };
    request.operation == Operation::Update
        && is_deleted
        && without_metadata(&request.old_object) == without_metadata(&request.object)
}

pub(super) fn decode<K: AnyKind>(object: &Value) -> Result<K, Status> {
    K::deserialize(object).map_err(|error| {
        let kind = object["kind"].as_str().unwrap_or("object");
        Status::bad_request(format!("read the {kind}: {error}"))
    })
}

pub(super) fn encode<K: AnyKind>(object: &K) -> Result<Value, Status> {
    serde_json::to_value(object)
        .map_err(|error| Status::internal(format!("write the result of the webhook: {error}")))
}
