//! GET requests whose responses are read chunk by chunk.

use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::BodyExt as _;
use kube::Client;
use kube::client::Body;
use kubewright_wire::protobuf::{Envelope, Layouts, ProtobufObject};
use kubewright_wire::status::Status;
use tokio::time::{Instant, timeout_at};

use super::{Blocked, unwrap_service_error};
use crate::Error;

/// How much of the body of an error response is read.
const MAX_ERROR_BODY: usize = 1 << 16;

/// The body of a successful response, chunk by chunk.
#[derive(Debug)]
pub struct ResponseStream {
    what: String,
    body: Body,
    is_protobuf: bool,
}

/// Sends a GET for `path`, which includes the query, and returns the response in JSON once its
/// headers have arrived. Errors name the request as `what`.
///
/// # Cancel safety
///
/// When dropped, the request is canceled.
pub async fn get_json_stream(
    client: &Client,
    what: &str,
    path: &str,
    timeout: Duration,
) -> Result<ResponseStream, Error> {
    get_stream(client, what, path, "application/json", timeout).await
}

/// Sends a GET as [`get_json_stream`] does, for a response of a media type that `accept` lists.
///
/// # Cancel safety
///
/// When dropped, the request is canceled.
pub async fn get_stream(
    client: &Client,
    what: &str,
    path: &str,
    accept: &str,
    timeout: Duration,
) -> Result<ResponseStream, Error> {
    let request = Request::get(path)
        .header(http::header::ACCEPT, accept)
        .body(Body::empty())
        .map_err(|source| Error::InvalidRequest {
            what: what.to_owned(),
            source,
        })?;
    let deadline = Instant::now() + timeout;
    let timed_out = || Error::TimedOut {
        what: what.to_owned(),
        after: timeout,
    };
    let response = timeout_at(deadline, client.send(request))
        .await
        .map_err(|_| timed_out())?
        .map_err(|source| without_response(what.to_owned(), source))?;
    if response.status().is_success() {
        return Ok(ResponseStream {
            what: what.to_owned(),
            is_protobuf: is_protobuf(&response),
            body: response.into_body(),
        });
    }
    let status = timeout_at(deadline, read_error(response))
        .await
        .map_err(|_| timed_out())?;
    Err(Error::ErrorResponse {
        what: what.to_owned(),
        status: Box::new(status),
    })
}

fn without_response(what: String, source: kube::Error) -> Error {
    if Blocked::is_cause_of(&source) {
        let source = unwrap_service_error(source);
        return Error::Blocked { what, source };
    }
    Error::NoResponse {
        what,
        source: Box::new(source),
    }
}

impl ResponseStream {
    /// Whether the body is in Kubernetes' protobuf.
    pub fn is_protobuf(&self) -> bool {
        self.is_protobuf
    }

    /// The next chunk, or none at the end. Fails with [`Error::TimedOut`] when no chunk arrives
    /// before `deadline`.
    ///
    /// # Cancel safety
    ///
    /// When dropped, no chunk is lost.
    pub async fn chunk(&mut self, deadline: Instant) -> Result<Option<Bytes>, Error> {
        let start = Instant::now();
        loop {
            let next =
                timeout_at(deadline, self.body.frame())
                    .await
                    .map_err(|_| Error::TimedOut {
                        what: self.what.clone(),
                        after: start.elapsed(),
                    })?;
            let Some(received) = next else {
                return Ok(None);
            };
            let frame = received.map_err(|source| Error::ConnectionLost {
                what: self.what.clone(),
                source: source.into(),
            })?;
            // Kubernetes sends no trailers that matter here.
            if let Ok(chunk) = frame.into_data() {
                return Ok(Some(chunk));
            }
        }
    }
}

fn is_protobuf(response: &Response<Body>) -> bool {
    response
        .headers()
        .get(http::header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|text| text.split(';').next())
        .is_some_and(|media_type| media_type.trim() == "application/vnd.kubernetes.protobuf")
}

/// The `Status` of an error response, with the delay of its `Retry-After` header. Where the body is
/// not a `Status`, such as that of a proxy, a `Status` is made from the code and the text.
async fn read_error(response: Response<Body>) -> Status {
    let code = response.status().as_u16();
    let retry_after = response
        .headers()
        .get(http::header::RETRY_AFTER)
        .and_then(|value| value.to_str().ok()?.parse().ok());
    let is_protobuf = is_protobuf(&response);
    let bytes = read_prefix(response.into_body()).await;
    let parsed = if is_protobuf {
        status_in_protobuf(&bytes)
    } else {
        serde_json::from_slice::<Status>(&bytes).ok()
    };
    let mut status = match parsed {
        Some(status) if status.code != 0 => status,
        Some(status) if status.reason.is_some() => Status { code, ..status },
        _ => Status {
            code,
            message: String::from_utf8_lossy(&bytes).trim().to_owned(),
            ..Status::default()
        },
    };
    if let Some(seconds) = retry_after {
        let details = status.details.get_or_insert_default();
        details.retry_after_seconds = details.retry_after_seconds.max(seconds);
    }
    status
}

/// The body, up to about [`MAX_ERROR_BODY`] bytes.
async fn read_prefix(mut body: Body) -> Vec<u8> {
    let mut bytes = Vec::new();
    while let Some(Ok(frame)) = body.frame().await {
        if let Ok(chunk) = frame.into_data() {
            bytes.extend_from_slice(&chunk);
        }
        if bytes.len() > MAX_ERROR_BODY {
            break;
        }
    }
    bytes
}

fn status_in_protobuf(bytes: &[u8]) -> Option<Status> {
    let layout = Layouts::builtin().of_status()?;
    let object = Envelope::open(bytes).ok()?.object;
    let json = ProtobufObject::new(layout, object).to_json().ok()?;
    serde_json::from_slice(&json).ok()
}
