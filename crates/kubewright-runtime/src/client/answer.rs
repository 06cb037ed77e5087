use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::BodyExt as _;
use kube::Client;
use kube::client::Body;
use kubewright_wire::protobuf::{Envelope, Layouts, ProtobufObject};
use kubewright_wire::status::Status;
use tokio::time::{Instant, timeout_at};

use super::{Unsent, cause_of};
use crate::Error;

/// The most of a refusal's body that is read.
const LONGEST_REFUSAL: usize = 1 << 16;

/// The body of an accepted request, chunk by chunk.
#[derive(Debug)]
pub struct Answer {
    what: String,
    body: Body,
    is_protobuf: bool,
}

/// Sends a GET for `path` (with its query) and waits for the head of the answer; `what` says in
/// errors what was tried.
///
/// # Cancel safety
///
/// Dropped, the request is given up.
pub async fn open(
    client: &Client,
    what: &str,
    path: &str,
    patience: Duration,
) -> Result<Answer, Error> {
    open_as(client, what, path, "application/json", patience).await
}

/// As [`open`], for an answer in one of the forms that `accept` names.
///
/// # Cancel safety
///
/// Dropped, the request is given up.
pub async fn open_as(
    client: &Client,
    what: &str,
    path: &str,
    accept: &str,
    patience: Duration,
) -> Result<Answer, Error> {
    let request = Request::get(path)
        .header(http::header::ACCEPT, accept)
        .body(Body::empty())
        .map_err(|source| Error::InvalidRequest {
            what: what.to_owned(),
            source,
        })?;
    let deadline = Instant::now() + patience;
    let silent = || Error::TimedOut {
        what: what.to_owned(),
        after: patience,
    };
    let sent = timeout_at(deadline, client.send(request)).await;
    let response = sent
        .map_err(|_| silent())?
        .map_err(|source| unanswered(what.to_owned(), source))?;
    if response.status().is_success() {
        return Ok(Answer {
            what: what.to_owned(),
            is_protobuf: is_protobuf(&response),
            body: response.into_body(),
        });
    }
    let refusal = timeout_at(deadline, read_refusal(response)).await;
    Err(Error::ErrorResponse {
        what: what.to_owned(),
        status: Box::new(refusal.map_err(|_| silent())?),
    })
}

fn unanswered(what: String, source: kube::Error) -> Error {
    if Unsent::is_behind(&source) {
        let source = cause_of(source);
        return Error::Blocked { what, source };
    }
    Error::NoResponse {
        what,
        source: Box::new(source),
    }
}

impl Answer {
    /// Whether the body is in Kubernetes' protobuf.
    pub fn is_protobuf(&self) -> bool {
        self.is_protobuf
    }

    /// The next chunk; none at the end. Fails when none comes before `deadline`.
    ///
    /// # Cancel safety
    ///
    /// Dropped, no chunk is lost.
    pub async fn chunk(&mut self, deadline: Instant) -> Result<Option<Bytes>, Error> {
        let began = Instant::now();
        loop {
            let frame = timeout_at(deadline, self.body.frame()).await;
            let frame = frame.map_err(|_| Error::TimedOut {
                what: self.what.clone(),
                after: began.elapsed(),
            })?;
            let Some(frame) = frame else {
                return Ok(None);
            };
            let frame = frame.map_err(|source| Error::ConnectionLost {
                what: self.what.clone(),
                source: source.into(),
            })?;
            // Trailers say nothing of interest.
            if let Ok(chunk) = frame.into_data() {
                return Ok(Some(chunk));
            }
        }
    }
}

fn is_protobuf(response: &Response<Body>) -> bool {
    let media_type = response.headers().get(http::header::CONTENT_TYPE);
    let media_type = media_type.and_then(|value| value.to_str().ok());
    let media_type = media_type.and_then(|text| text.split(';').next());
    media_type.is_some_and(|name| name.trim() == "application/vnd.kubernetes.protobuf")
}

/// The `Status` of a refusal; where the body is none, one made from code and text. What the head
/// says about when to come back is in it too.
async fn read_refusal(response: Response<Body>) -> Status {
    let code = response.status().as_u16();
    let retry_after = response.headers().get(http::header::RETRY_AFTER);
    let retry_after = retry_after.and_then(|value| value.to_str().ok()?.parse().ok());
    let is_protobuf = is_protobuf(&response);
    let mut body = response.into_body();
    let mut bytes = Vec::new();
    while let Some(Ok(frame)) = body.frame().await {
        if let Ok(chunk) = frame.into_data() {
            bytes.extend_from_slice(&chunk);
        }
        if bytes.len() > LONGEST_REFUSAL {
            break;
        }
    }
    let read = match is_protobuf {
        true => status_in_protobuf(&bytes),
        false => serde_json::from_slice::<Status>(&bytes).ok(),
    };
    let mut status = match read {
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

fn status_in_protobuf(bytes: &[u8]) -> Option<Status> {
    let layout = Layouts::builtin().of_status()?;
    let object = Envelope::open(bytes).ok()?.object;
    let json = ProtobufObject::new(layout, object).to_json().ok()?;
    serde_json::from_slice(&json).ok()
}
