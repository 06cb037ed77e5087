use std::io::Write as _;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, VARY};
use http::request::Parts;
use http::{HeaderValue, Method, Response, StatusCode};

use super::ServerBody;

/// Smaller answers are sent as they are, as in Kubernetes.
const SMALLEST: u64 = 128 * 1024;

/// Whether a request wants a large answer compressed.
pub(super) fn is_wanted(parts: &Parts) -> bool {
    let encodings = parts.headers.get_all(ACCEPT_ENCODING).iter();
    let mut encodings = encodings
        .filter_map(|value| value.to_str().ok())
        .flat_map(|text| text.split(','))
        .filter_map(|encoding| encoding.split(';').next());
    parts.method == Method::GET && encodings.any(|encoding| encoding.trim() == "gzip")
}

/// Compresses a large answer piece by piece; a watch is never compressed.
pub(super) fn compress(response: Response<ServerBody>) -> Response<ServerBody> {
    let is_large = response
        .body()
        .length()
        .is_some_and(|length| length > SMALLEST);
    if !is_large || response.status() != StatusCode::OK {
        return response;
    }
    let (mut head, body) = response.into_parts();
    let gzip = HeaderValue::from_static("gzip");
    head.headers.insert(CONTENT_ENCODING, gzip);
    let vary = HeaderValue::from_static("Accept-Encoding");
    head.headers.append(VARY, vary);
    Response::from_parts(head, body.compressed())
}

/// Compresses pieces one after the other.
#[derive(Debug)]
pub(super) struct Gzip {
    /// None once the end was written.
    encoder: Option<GzEncoder<Vec<u8>>>,
}

impl Gzip {
    pub(super) fn new() -> Self {
        Self {
            encoder: Some(GzEncoder::new(Vec::new(), Compression::fast())),
        }
    }

    /// What is to be sent after the next piece, or after the last one when there is none; empty
    /// where the piece is only kept for now.
    pub(super) fn take(&mut self, piece: Option<Bytes>) -> Option<Bytes> {
        const IN_MEMORY: &str = "compressing in memory does not fail";
        match piece {
            Some(piece) => {
                let encoder = self.encoder.as_mut()?;
                encoder.write_all(&piece).expect(IN_MEMORY);
                Some(Bytes::from(std::mem::take(encoder.get_mut())))
            }
            None => {
                let rest = self.encoder.take()?.finish().expect(IN_MEMORY);
                Some(Bytes::from(rest))
            }
        }
    }
}
