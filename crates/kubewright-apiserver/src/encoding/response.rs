//! Responses whose body is complete before they are sent.

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Response, StatusCode};
use kubewright_wire::yaml;
use serde_json::Value;

use super::accept::Format;

/// A response with a body of a media type.
pub(crate) fn response(
    code: StatusCode,
    media_type: &'static str,
    body: impl Into<Bytes>,
) -> Response<Bytes> {
    let mut response = Response::new(body.into());
    *response.status_mut() = code;
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}

/// A response in plain text.
pub(crate) fn text_response(code: StatusCode, text: impl Into<Bytes>) -> Response<Bytes> {
    response(code, "text/plain; charset=utf-8", text)
}

/// A response with a value.
pub(crate) fn value_response(code: StatusCode, value: &Value, format: Format) -> Response<Bytes> {
    match format {
        Format::Json => response(code, "application/json", value.to_string()),
        Format::Yaml => response(code, "application/yaml", yaml::to_string(value)),
    }
}
