//! Untyped requests to the API server.

use http::{Method, Request, StatusCode};
use kube::Client;
use serde_json::Value;

/// Sends a request with a JSON body; the body of a PATCH is a JSON patch.
pub(super) async fn send(
    client: &Client,
    method: Method,
    path: &str,
    body: Option<&Value>,
) -> Result<Value, kube::Error> {
    let media_type = match method {
        Method::PATCH => "application/json-patch+json",
        _ => "application/json",
    };
    let bytes = body.map(|body| body.to_string().into_bytes());
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header(http::header::CONTENT_TYPE, media_type)
        .body(bytes.unwrap_or_default())
        .map_err(kube::Error::HttpError)?;
    client.request(request).await
}

/// Whether the API server responded with this code.
pub(super) fn has_code(error: &kube::Error, code: StatusCode) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == code.as_u16())
}
