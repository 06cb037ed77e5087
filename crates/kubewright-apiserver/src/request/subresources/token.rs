//! `token` of ServiceAccounts: issues a token.

use http::StatusCode;
use kubewright_core::{Kind, Operation};
use kubewright_wire::status::Status;
use serde_json::json;

use crate::authentication::TokenRequest;
use crate::request::api::Api;
use crate::request::codec::decode;
use crate::request::message::ApiRequest;
use crate::request::options::WriteOptions;
use crate::request::response::{ApiBody, ApiResponse};
use crate::request::steps::{Part, Write, attributes, track_subresource};
use crate::request::target::Target;

/// Issues a token for a ServiceAccount.
pub(super) async fn issue_token(
    api: &Api,
    target: &Target,
    request: &ApiRequest,
) -> Result<ApiResponse, Status> {
    let options = WriteOptions::parse(&request.query, "CreateOptions")?;
    let kind = Kind::new("authentication.k8s.io", "v1", "TokenRequest");
    let decoded = decode::subresource(&request.content, &kind, options.field_validation)?;
    request.warnings.add(decoded.warnings);
    let write = Write::new(api, target, request, &options, Part::Whole);
    let body = track_subresource(&kind, decoded.value, write.writer());
    let mut attributes = attributes(target, request, Operation::Create, options.is_dry_run);
    attributes.object = Some(body);
    api.admission
        .mutate(&mut attributes, &request.warnings)
        .await?;
    let body = attributes.object.take().unwrap_or_default();
    let issued = api.authenticator.issue_token(
        TokenRequest {
            namespace: target.namespace.as_deref().unwrap_or_default(),
            name: target.name()?,
            now: api.clock.now(),
            token_id: &api.random.uid(),
        },
        body,
    )?;
    // Validating admission sees the completed request without the token.
    let mut shown = issued.clone();
    shown["status"] = json!({"token": "", "expirationTimestamp": null});
    attributes.object = Some(shown);
    api.admission
        .validate(&attributes, &request.warnings)
        .await?;
    Ok(ApiResponse::new(
        StatusCode::CREATED,
        ApiBody::Value(issued),
    ))
}
