//! `token` of ServiceAccounts: issues a token.

use http::StatusCode;
use kubewright_core::Operation;
use kubewright_kinds::authentication::TOKEN_REQUEST;
use kubewright_wire::status::Status;
use serde_json::{Value, json};

use crate::authentication::TokenRequest;
use crate::request::api::Api;
use crate::request::codec::decode;
use crate::request::message::ApiRequest;
use crate::request::options::WriteOptions;
use crate::request::response::{ApiBody, ApiResponse};
use crate::request::steps::{Part, Writer, admit_completed, attributes, track_unstored};
use crate::request::target::Target;

/// Issues a token for a ServiceAccount.
pub(super) async fn issue_token(
    api: &Api,
    target: &Target,
    request: &ApiRequest,
) -> Result<ApiResponse, Status> {
    let options = WriteOptions::parse(&request.query, "CreateOptions")?;
    let kind = TOKEN_REQUEST.in_version("v1");
    let decoded = decode::subresource(&request.content, &kind, options.field_validation)?;
    request.warnings.add(decoded.warnings);
    let writer = Writer::of(api, request, &options, Part::Whole);
    let sent = track_unstored(&kind, decoded.value, &writer);
    let dry_run = options.dry_run;
    let attributes = attributes(target, request, Operation::Create, dry_run, Some(sent));
    let token_request = TokenRequest {
        namespace: target.namespace.as_deref().unwrap_or_default(),
        name: target.name()?,
        now: api.clock.now(),
        token_id: &api.random.uid(),
    };
    let mut issued = Value::Null;
    let issue = |body: Value| {
        issued = api.authenticator.issue_token(token_request, body)?;
        // Validating admission sees the completed request without the token.
        let mut without_token = issued.clone();
        without_token["status"] = json!({"token": "", "expirationTimestamp": null});
        Ok(without_token)
    };
    admit_completed(api, attributes, &request.warnings, issue).await?;
    Ok(ApiResponse::new(
        StatusCode::CREATED,
        ApiBody::Value(issued),
    ))
}
