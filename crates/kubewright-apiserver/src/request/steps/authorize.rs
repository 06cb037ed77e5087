//! Permissions that a write needs besides that of its verb.

use kubewright_wire::status::Status;
use serde_json::Value;

use crate::authentication::User;
use crate::authorization::{AccessAttributes, AccessTarget, Denied, Grant, ResourceTarget};
use crate::request::api::Api;
use crate::request::message::ApiRequest;
use crate::request::target::Target;
use crate::store::Object;

/// Checks the permission to create, for a PUT or apply of an object that does not exist.
pub(super) async fn authorize_create(
    api: &Api,
    target: &Target,
    request: &ApiRequest,
) -> Result<(), Status> {
    let resource = ResourceTarget {
        group: target.kind().group(),
        plural: &target.resource.resource.plural,
        subresource: "",
        namespace: target.namespace.as_deref().unwrap_or_default(),
        name: target.name.as_deref().unwrap_or_default(),
    };
    let attributes = AccessAttributes {
        user: &request.user,
        verb: "create",
        target: AccessTarget::Resource(resource),
    };
    let parameters = Some((&request.route, &request.query));
    let authorized = api.authorizer.authorize(&attributes, parameters);
    authorized.await.map_err(|denied| match denied {
        Denied::Forbidden(status) => *status,
        Denied::Failed(why) => Status::internal(why),
    })
}

/// Checks that a user who writes a role or binding has the permissions that it grants.
pub(super) fn authorize_grant(
    api: &Api,
    target: &Target,
    user: &User,
    old: Option<&Object>,
    new: &Value,
) -> Result<(), Status> {
    api.authorizer.check_grant(&Grant {
        user,
        kind: target.resource.strategy,
        namespace: target.namespace.as_deref().unwrap_or_default(),
        name: target.name.as_deref().unwrap_or_default(),
        old,
        new,
    })
}
