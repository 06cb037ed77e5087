//! Reads one object.

use http::StatusCode;
use kubewright_wire::status::Status;

use crate::request::api::Api;
use crate::request::message::ApiRequest;
use crate::request::response::ApiResponse;
use crate::request::steps::{parse_revision, wait_for};
use crate::request::target::Target;

/// Reads an object, not older than the requested revision.
pub(crate) async fn get(
    api: &Api,
    target: &Target,
    request: &ApiRequest,
) -> Result<ApiResponse, Status> {
    let name = target.name()?;
    let version = request.query.get("resourceVersion").unwrap_or_default();
    if !version.is_empty() {
        let revision = parse_revision(version).map_err(Status::unknown)?;
        wait_for(&api.store, revision).await?;
    }
    let object = api
        .store
        .get(&target.key(name))
        .ok_or_else(|| target.not_found(name))?;
    Ok(ApiResponse::object(StatusCode::OK, object))
}
