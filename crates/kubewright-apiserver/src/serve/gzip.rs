//! Compression of responses.

use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, VARY};
use http::request::Parts;
use http::{HeaderValue, Method, Response, StatusCode};

use super::response_body::ServerBody;

/// Smaller responses are not compressed, as in Kubernetes.
const MIN_BYTES: usize = 128 * 1024;

/// Whether a request accepts a compressed response.
pub(super) fn is_accepted(parts: &Parts) -> bool {
    let encodings = parts.headers.get_all(ACCEPT_ENCODING).iter();
    let mut encodings = encodings
        .filter_map(|value| value.to_str().ok())
        .flat_map(|text| text.split(','))
        .filter_map(|encoding| encoding.split(';').next());
    parts.method == Method::GET && encodings.any(|encoding| encoding.trim() == "gzip")
}

/// Compresses a large response chunk by chunk. A watch is never compressed.
pub(super) fn compress(response: Response<ServerBody>) -> Response<ServerBody> {
    if response.status() != StatusCode::OK || !response.body().exceeds(MIN_BYTES) {
        return response;
    }
    let (mut head, body) = response.into_parts();
    let gzip = HeaderValue::from_static("gzip");
    head.headers.insert(CONTENT_ENCODING, gzip);
    let vary = HeaderValue::from_static("Accept-Encoding");
    head.headers.append(VARY, vary);
    Response::from_parts(head, body.compressed())
}
