//! Requests to webhooks, and the messages of client-go for responses that are errors.

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HOST, USER_AGENT};
use http::{HeaderMap, Request, StatusCode, Uri};
use http_body_util::Full;

/// How many bytes of a text response an error shows.
const MAX_SHOWN: usize = 2048;

/// How Kubernetes decodes a response. The messages for malformed responses differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResponseFormat {
    Json,
    /// Any text is a valid value.
    Yaml,
}

pub(super) fn post(uri: &Uri, body: Bytes) -> Result<Request<Full<Bytes>>, http::Error> {
    let host = uri.authority().map(ToString::to_string).unwrap_or_default();
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    Request::post(path)
        .header(HOST, host)
        .header(USER_AGENT, "kube-apiserver-admission")
        .header(ACCEPT, "application/json, */*")
        .header(CONTENT_TYPE, "application/json")
        .body(Full::new(body))
}

/// The error of client-go for a response that is not a success (`NewGenericServerResponse`).
pub(super) fn error_message(code: StatusCode, headers: &HeaderMap, bytes: &[u8]) -> String {
    let media_type = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let is_text = media_type.is_none_or(|media_type| media_type.starts_with("text/"));
    let text = if is_text {
        let shown = bytes.get(..MAX_SHOWN).unwrap_or(bytes);
        String::from_utf8_lossy(shown).trim().to_owned()
    } else {
        "unknown".to_owned()
    };
    let message = match code.as_u16() {
        409 => "the server reported a conflict",
        404 => "the server could not find the requested resource",
        400 => "the server rejected our request for an unknown reason",
        401 => "the server has asked for the client to provide credentials",
        403 | 415 => return text,
        406 => "the server was unable to respond with a content type that the client supports",
        405 => "the server does not allow this method on the requested resource",
        422 => "the server rejected our request due to an error in our request",
        503 => "the server is currently unable to handle the request",
        504 => {
            "the server was unable to return a response in the time allotted, but may still be \
             processing the request"
        }
        429 => "the server has received too many requests and has asked us to try again later",
        500.. => {
            return format!(
                "an error on the server ({text:?}) has prevented the request from succeeding"
            );
        }
        code => {
            return format!(
                "the server responded with the status code {code} but did not return more \
                 information"
            );
        }
    };
    message.to_owned()
}

/// The error of client-go for a body that is not a review.
pub(super) fn undecodable(
    bytes: &[u8],
    error: &serde_json::Error,
    format: ResponseFormat,
) -> String {
    let text = String::from_utf8_lossy(bytes);
    match text.trim().chars().next() {
        Some(c) if !matches!(c, '{' | '[') && format == ResponseFormat::Yaml => {
            "couldn't get version/kind; json parse error: json: cannot unmarshal string into Go \
             value of type struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind \
             string \"json:\\\"kind,omitempty\\\"\" }"
                .to_owned()
        }
        Some(c) if !matches!(c, '{' | '[' | '"') => format!(
            "couldn't get version/kind; json parse error: invalid character {c:?} looking for \
             beginning of value"
        ),
        None => {
            "couldn't get version/kind; json parse error: unexpected end of JSON input".to_owned()
        }
        Some(_) => format!("couldn't get version/kind; json parse error: {error}"),
    }
}
