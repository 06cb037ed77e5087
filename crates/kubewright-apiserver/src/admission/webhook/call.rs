use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HOST, USER_AGENT};
use http::{HeaderMap, Request, StatusCode, Uri};
use http_body_util::Full;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use super::configuration::ClientConfig;
use super::connections::Answer;
use super::no_answer::NoAnswer;
use crate::server::Server;

/// How a connection ends that the other side broke.
const RESET: &str = "connection reset by peer";
/// How much of a text answer is shown.
const SHOWN: usize = 2048;

/// To whom a question goes.
#[derive(Clone, Debug)]
pub(crate) struct Question<'a> {
    pub(crate) client: &'a ClientConfig,
    /// The address, with its parameters.
    pub(crate) url: String,
    pub(crate) timeout: Duration,
    pub(crate) answer: AnswerForm,
}

/// As what Kubernetes reads an answer; they differ in what is said of one that is neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnswerForm {
    Json,
    /// Any text is a value.
    Yaml,
}

/// Sends a question and reads the answer; an error tells what follows `failed to call webhook: `.
pub(crate) async fn call<Q: Serialize, A: DeserializeOwned>(
    server: &Server,
    question: &Question<'_>,
    review: &Q,
) -> Result<A, NoAnswer> {
    let url = &question.url;
    let failed = |why: String| {
        let is_reset = why.contains(RESET);
        let why = format!("Post {url:?}: {why}");
        match is_reset {
            true => NoAnswer::passing(why),
            false => NoAnswer::lasting(why),
        }
    };
    let uri: Uri = url.parse().map_err(|_| failed("invalid URL".to_owned()))?;
    let body = serde_json::to_vec(review).map_err(|error| failed(error.to_string()))?;
    let body = Bytes::from(body);
    let exchange = server
        .connections()
        .send((server, question.client, &uri), || post(&uri, body.clone()));
    let Answer {
        code,
        headers,
        body,
    } = match timeout(question.timeout, exchange).await {
        Ok(answered) => answered.map_err(failed)?,
        Err(_) => return Err(failed("context deadline exceeded".to_owned())),
    };
    if !(200..=206).contains(&code.as_u16()) {
        let why = server_said(code, &headers, &body);
        return Err(match code.as_u16() {
            429 | 500 | 504 => NoAnswer::passing(why),
            _ => NoAnswer::lasting(why),
        });
    }
    serde_json::from_slice(&body)
        .map_err(|error| NoAnswer::lasting(unreadable(&body, &error, question.answer)))
}

fn post(uri: &Uri, body: Bytes) -> Result<Request<Full<Bytes>>, http::Error> {
    let host = uri.authority().map(ToString::to_string).unwrap_or_default();
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    Request::post(path)
        .header(HOST, host)
        .header(USER_AGENT, "kube-apiserver-admission")
        .header(ACCEPT, "application/json, */*")
        .header(CONTENT_TYPE, "application/json")
        .body(Full::new(body))
}

/// What client-go makes of an answer that is no success (`NewGenericServerResponse`).
fn server_said(code: StatusCode, headers: &HeaderMap, bytes: &[u8]) -> String {
    let media_type = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let is_text = media_type.is_none_or(|media_type| media_type.starts_with("text/"));
    let said = match is_text {
        true => {
            let shown = bytes.get(..SHOWN).unwrap_or(bytes);
            String::from_utf8_lossy(shown).trim().to_owned()
        }
        false => "unknown".to_owned(),
    };
    let message = match code.as_u16() {
        409 => "the server reported a conflict",
        404 => "the server could not find the requested resource",
        400 => "the server rejected our request for an unknown reason",
        401 => "the server has asked for the client to provide credentials",
        403 | 415 => return said,
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
                "an error on the server ({said:?}) has prevented the request from succeeding"
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

/// What client-go says of a body that is no review.
fn unreadable(bytes: &[u8], error: &serde_json::Error, form: AnswerForm) -> String {
    let text = String::from_utf8_lossy(bytes);
    match text.trim().chars().next() {
        Some(c) if !matches!(c, '{' | '[') && form == AnswerForm::Yaml => {
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
