//! Bodies of subresources that are requests and are not stored: Binding and Eviction.

use http::StatusCode;
use kubewright_kinds::BuiltinKind;
use kubewright_kinds::json::text;
use kubewright_wire::status::{Outcome, Status};
use serde_json::Value;

use crate::request::codec::decode;
use crate::request::message::ApiRequest;
use crate::request::response::{ApiBody, ApiResponse};

/// Parses the body, which must have the name of the object in the URL.
pub(super) fn parse_named(
    request: &ApiRequest,
    name: &str,
    kind: &BuiltinKind,
) -> Result<Value, Status> {
    let body = decode::parse(&request.content).map_err(Status::bad_request)?;
    if text(&body["metadata"]["name"]) != name {
        let why = format!("name in URL does not match name in {} object", kind.kind);
        return Err(Status::bad_request(why));
    }
    Ok(body)
}

/// The response to a request that succeeded: 201 without an object.
pub(super) fn created() -> ApiResponse {
    let code = StatusCode::CREATED;
    let status = Status {
        status: Some(Outcome::Success),
        code: code.as_u16(),
        ..Status::default()
    };
    ApiResponse::new(code, ApiBody::Status(Box::new(status)))
}
