use std::panic::AssertUnwindSafe;
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt as _;
use http::header::{CONNECTION, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderValue, Request, Response, StatusCode, Version};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Incoming as HyperBody;
use kubewright_http::Activity;
use kubewright_wire::review::{
    AdmissionResponse, AdmissionReview, ConversionResponse, ConversionReview, SubjectAccessReview,
};
use kubewright_wire::status::{Outcome, Status};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, timeout_at};

use super::routes::Route;
use super::serve::Shared;
use super::{AdmissionHandler, AuthorizationHandler, ConversionHandler};

/// What is left of the API server's own time limit for the way back.
const MARGIN: Duration = Duration::from_millis(100);
/// The longest that the API server may be told to wait.
const LONGEST: Duration = Duration::from_secs(30);

/// Answers one request, whatever it is. A question that cannot be read is answered inside a
/// review, as the API server shows that to its client.
pub(super) async fn answer(
    shared: &Shared,
    activity: &Activity,
    request: Request<HyperBody>,
) -> Response<Full<Bytes>> {
    let (parts, body) = request.into_parts();
    let Some(route) = shared.routes.find(parts.uri.path()) else {
        return text(StatusCode::NOT_FOUND, "404 page not found\n");
    };
    let path = parts.uri.path();
    let under_way = shared.metrics.begin(path);
    let deadline = deadline(&parts, shared.options.timeout);
    let read = read(&parts, body, shared.options.body_limit);
    let body = match timeout_at(deadline, read).await {
        Ok(read) => read,
        Err(_) => Err(Status::failure(
            408,
            None,
            "the body did not arrive in time",
        )),
    };
    // A connection whose client is still sending may be closed for another one.
    let _working = activity.begin();
    if body.is_ok() {
        activity.prove();
    }
    let mut response = respond(route, body, deadline, || shared.metrics.panicked(path)).await;
    under_way.answered(response.status().as_u16());
    if shared.stop.is_cancelled() && parts.version == Version::HTTP_11 {
        let last = HeaderValue::from_static("close");
        response.headers_mut().insert(CONNECTION, last);
    }
    response
}

/// Answers one question, or says what was wrong with it.
pub(super) async fn respond(
    route: &Route,
    body: Result<Bytes, Status>,
    deadline: Instant,
    panicked: impl Fn(),
) -> Response<Full<Bytes>> {
    match route {
        Route::Admission(handler) => json(&admission(handler, body, deadline, panicked).await),
        Route::Conversion(handler) => json(&conversion(handler, body, panicked)),
        Route::Authorization(handler) => authorization(handler, body, deadline, panicked).await,
    }
}

async fn admission(
    handler: &AdmissionHandler,
    body: Result<Bytes, Status>,
    deadline: Instant,
    panicked: impl Fn(),
) -> AdmissionReview {
    let review = body.and_then(|bytes| -> Result<AdmissionReview, _> {
        parse(&bytes, AdmissionReview::KIND, "admission.k8s.io")
    });
    let refuse = |status| AdmissionReview::answer(AdmissionResponse::denied(status));
    let review = match review {
        Ok(review) => review,
        Err(status) => return refuse(status),
    };
    let Some(request) = review.request else {
        return refuse(Status::bad_request("the review has no request"));
    };
    let uid = request.uid.clone();
    let called = AssertUnwindSafe(async { handler(request, deadline).await }).catch_unwind();
    let mut response = match timeout_at(deadline, called).await {
        Ok(Ok(response)) => response,
        Ok(Err(_)) => {
            panicked();
            tracing::error!("a webhook's function panicked");
            AdmissionResponse::denied(Status::internal("the webhook's function panicked"))
        }
        Err(_) => AdmissionResponse::denied(Status::internal(
            "the webhook's function did not finish in time",
        )),
    };
    response.uid = uid;
    AdmissionReview {
        // A client that speaks an older version hears the same one.
        api_version: match review.api_version.is_empty() {
            true => AdmissionReview::VERSION.to_owned(),
            false => review.api_version,
        },
        ..AdmissionReview::answer(response)
    }
}

fn conversion(
    handler: &ConversionHandler,
    body: Result<Bytes, Status>,
    panicked: impl Fn(),
) -> ConversionReview {
    let review = body.and_then(|bytes| -> Result<ConversionReview, _> {
        parse(&bytes, ConversionReview::KIND, "apiextensions.k8s.io")
    });
    // A client that speaks an older version hears the same one.
    let version = review.as_ref().map(|review| review.api_version.clone());
    let version = version.unwrap_or_default();
    let (uid, converted) = match review.map(|review| review.request) {
        Err(status) => (String::new(), Err(status)),
        Ok(None) => (
            String::new(),
            Err(Status::bad_request("the review has no request")),
        ),
        Ok(Some(request)) => {
            let wanted = request.desired_api_version;
            let objects = request.objects.into_iter();
            let convert = || objects.map(|object| handler(object, &wanted)).collect();
            let converted: Result<Vec<_>, String> =
                std::panic::catch_unwind(AssertUnwindSafe(convert)).unwrap_or_else(|_| {
                    panicked();
                    Err("the conversion function panicked".to_owned())
                });
            (request.uid, converted.map_err(Status::bad_request))
        }
    };
    let response = match converted {
        Ok(converted_objects) => ConversionResponse {
            uid,
            converted_objects,
            result: Status {
                status: Some(Outcome::Success),
                ..Status::default()
            },
        },
        Err(result) => ConversionResponse {
            uid,
            converted_objects: Vec::new(),
            result,
        },
    };
    ConversionReview {
        api_version: match version.is_empty() {
            true => ConversionReview::VERSION.to_owned(),
            false => version,
        },
        kind: ConversionReview::KIND.to_owned(),
        request: None,
        response: Some(response),
    }
}

/// A question that cannot be read is answered by its status: a review without an opinion would be
/// taken for one.
async fn authorization(
    handler: &AuthorizationHandler,
    body: Result<Bytes, Status>,
    deadline: Instant,
    panicked: impl Fn(),
) -> Response<Full<Bytes>> {
    let review = body.and_then(|bytes| -> Result<SubjectAccessReview, _> {
        parse(&bytes, "SubjectAccessReview", "authorization.k8s.io")
    });
    let mut review = match review {
        Ok(review) => review,
        Err(status) => return failure(&status),
    };
    let spec = review.spec.clone();
    let called = AssertUnwindSafe(async { handler(spec, deadline).await }).catch_unwind();
    match timeout_at(deadline, called).await {
        Ok(Ok(status)) => {
            review.status = status;
            json(&review)
        }
        Ok(Err(_)) => {
            panicked();
            failure(&Status::internal("the authorizer's function panicked"))
        }
        Err(_) => failure(&Status::internal(
            "the authorizer's function did not finish in time",
        )),
    }
}

/// The API server says how long it waits: `?timeout=10s`.
fn deadline(parts: &Parts, default: Duration) -> Instant {
    let asked = parts.uri.query().and_then(|query| {
        let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        let (_, text) = pairs.find(|(name, _)| *name == "timeout")?;
        let seconds = text.strip_suffix('s')?.parse().ok()?;
        Some(Duration::from_secs(seconds))
    });
    let limit = asked.unwrap_or(default).min(LONGEST);
    Instant::now() + limit.saturating_sub(MARGIN)
}

async fn read(parts: &Parts, body: HyperBody, limit: usize) -> Result<Bytes, Status> {
    let content_type = parts.headers.get(CONTENT_TYPE);
    let content_type = content_type.and_then(|value| value.to_str().ok());
    let content_type = content_type.unwrap_or_default();
    let media_type = content_type.split(';').next().unwrap_or_default().trim();
    if media_type != "application/json" {
        return Err(Status::bad_request(format!(
            "contentType={content_type}, expected application/json"
        )));
    }
    let bytes = match Limited::new(body, limit).collect().await {
        Ok(collected) => collected.to_bytes(),
        Err(error) if error.is::<LengthLimitError>() => return Err(Status::too_large(limit)),
        Err(error) => return Err(Status::bad_request(format!("read the body: {error}"))),
    };
    match bytes.is_empty() {
        true => Err(Status::bad_request("request body is empty")),
        false => Ok(bytes),
    }
}

/// Reads a review of the kind and the group that this path is for, in a version that is known. One
/// that does not say what it is, is what is expected.
fn parse<T: DeserializeOwned>(bytes: &[u8], kind: &str, group: &str) -> Result<T, Status> {
    let unreadable =
        |error: serde_json::Error| Status::bad_request(format!("read the review: {error}"));
    let head: Head = serde_json::from_slice(bytes).map_err(unreadable)?;
    let version = head.api_version.strip_prefix(group);
    let is_known = matches!(version, Some("/v1" | "/v1beta1"));
    if !(head.api_version.is_empty() || is_known) || !(head.kind.is_empty() || head.kind == kind) {
        return Err(Status::bad_request(format!(
            "read the review: expected {group}/v1, Kind={kind}, got {}, Kind={}",
            head.api_version, head.kind
        )));
    }
    serde_json::from_slice(bytes).map_err(unreadable)
}

/// What an object says it is.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Head {
    api_version: String,
    kind: String,
}

fn json<T: Serialize>(value: &T) -> Response<Full<Bytes>> {
    match serde_json::to_vec(value) {
        Ok(bytes) => typed(StatusCode::OK, "application/json", bytes.into()),
        Err(error) => text(
            StatusCode::INTERNAL_SERVER_ERROR,
            &format!("write the answer: {error}\n"),
        ),
    }
}

fn failure(status: &Status) -> Response<Full<Bytes>> {
    let code = StatusCode::from_u16(status.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    text(code, &format!("{status}\n"))
}

fn text(code: StatusCode, text: &str) -> Response<Full<Bytes>> {
    typed(code, "text/plain; charset=utf-8", text.to_owned().into())
}

fn typed(code: StatusCode, media_type: &'static str, body: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = code;
    let media_type = HeaderValue::from_static(media_type);
    response.headers_mut().insert(CONTENT_TYPE, media_type);
    response
}
