//! The AdmissionRequest that webhooks and expressions see.

use kubewright_wire::review::{AdmissionRequest, GroupVersionKind, GroupVersionResource, UserInfo};
use kubewright_wire::status::Status;
use serde_json::Value;

use super::criteria::Invocation;
use crate::admission::attributes::AdmissionAttributes;

/// The AdmissionRequest of a request, without its objects and uid.
pub(crate) fn request(
    invocation: &Invocation,
    attributes: &AdmissionAttributes,
) -> AdmissionRequest {
    let user = &attributes.user;
    AdmissionRequest {
        kind: GroupVersionKind::from(&invocation.kind),
        resource: GroupVersionResource::from(&invocation.served.resource),
        sub_resource: attributes.subresource.clone(),
        request_kind: Some(GroupVersionKind::from(&attributes.kind)),
        request_resource: Some(GroupVersionResource::from(&attributes.resource.resource)),
        request_sub_resource: attributes.subresource.clone(),
        name: attributes.name.clone(),
        namespace: attributes.namespace.clone(),
        operation: attributes.operation,
        user_info: UserInfo {
            username: user.name.clone(),
            uid: user.uid.clone(),
            groups: user.groups.clone(),
            extra: user.extra.clone(),
        },
        dry_run: Some(attributes.is_dry_run),
        options: attributes.options(),
        ..AdmissionRequest::default()
    }
}

/// The AdmissionRequest that match conditions see. Unlike in a review, `resource` is that of the
/// request, not of the matching rule.
pub(crate) fn condition_request(
    invocation: &Invocation,
    attributes: &AdmissionAttributes,
) -> Result<Value, Status> {
    let mut request = request(invocation, attributes);
    request.resource = GroupVersionResource::from(&attributes.resource.resource);
    serde_json::to_value(request)
        .map_err(|error| Status::internal(format!("prepare conditions: {error}")))
}
