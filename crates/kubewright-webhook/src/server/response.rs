//! Reviews and their responses: admission, conversion and authorization.

use std::panic::AssertUnwindSafe;

use bytes::Bytes;
use futures_util::FutureExt as _;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Response, StatusCode};
use http_body_util::Full;
use kubewright_wire::review::{
    AdmissionResponse, AdmissionReview, ConversionRequest, ConversionResponse, ConversionReview,
    SubjectAccessReview,
};
use kubewright_wire::status::{Outcome, Status};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::handler::{AdmissionHandler, AuthorizationHandler, ConversionHandler, Route};

/// Calls the handler of a route with the review in `body`, or responds with the error.
pub(super) async fn respond(
    route: &Route,
    body: Result<Bytes, Status>,
    deadline: Instant,
    on_panic: impl Fn(),
) -> Response<Full<Bytes>> {
    match route {
        Route::Admission(handler) => {
            json_response(&admission(handler, body, deadline, on_panic).await)
        }
        Route::Conversion(handler) => json_response(&conversion(handler, body, on_panic)),
        Route::Authorization(handler) => authorization(handler, body, deadline, on_panic).await,
    }
}

async fn admission(
    handler: &AdmissionHandler,
    body: Result<Bytes, Status>,
    deadline: Instant,
    on_panic: impl Fn(),
) -> AdmissionReview {
    let denied = |status| AdmissionReview::with_response(AdmissionResponse::denied(status));
    let parsed = body.and_then(|bytes| -> Result<AdmissionReview, _> {
        parse(&bytes, AdmissionReview::KIND, "admission.k8s.io")
    });
    let review = match parsed {
        Ok(review) => review,
        Err(status) => return denied(status),
    };
    let Some(request) = review.request else {
        return denied(Status::bad_request("the review has no request"));
    };
    let uid = request.uid.clone();
    let called = AssertUnwindSafe(async { handler(request, deadline).await }).catch_unwind();
    let mut response = match timeout_at(deadline, called).await {
        Ok(Ok(response)) => response,
        Ok(Err(_)) => {
            on_panic();
            tracing::error!("a webhook's function panicked");
            AdmissionResponse::denied(Status::internal("the webhook's function panicked"))
        }
        Err(_) => AdmissionResponse::denied(Status::internal(
            "the webhook's function did not finish in time",
        )),
    };
    response.uid = uid;
    AdmissionReview {
        api_version: response_version(review.api_version, AdmissionReview::VERSION),
        ..AdmissionReview::with_response(response)
    }
}

fn conversion(
    handler: &ConversionHandler,
    body: Result<Bytes, Status>,
    on_panic: impl Fn(),
) -> ConversionReview {
    let parsed = body.and_then(|bytes| -> Result<ConversionReview, _> {
        parse(&bytes, ConversionReview::KIND, "apiextensions.k8s.io")
    });
    let (version, request) = match parsed {
        Ok(review) => (
            review.api_version,
            review
                .request
                .ok_or_else(|| Status::bad_request("the review has no request")),
        ),
        Err(status) => (String::new(), Err(status)),
    };
    let response = match request {
        Ok(request) => convert(handler, request, on_panic),
        Err(result) => ConversionResponse {
            result,
            ..ConversionResponse::default()
        },
    };
    ConversionReview {
        api_version: response_version(version, ConversionReview::VERSION),
        kind: ConversionReview::KIND.to_owned(),
        request: None,
        response: Some(response),
    }
}

fn convert(
    handler: &ConversionHandler,
    request: ConversionRequest,
    on_panic: impl Fn(),
) -> ConversionResponse {
    let version = request.desired_api_version;
    let objects = request.objects.into_iter();
    let convert_all = || objects.map(|object| handler(object, &version)).collect();
    let converted: Result<Vec<Value>, String> =
        std::panic::catch_unwind(AssertUnwindSafe(convert_all)).unwrap_or_else(|_| {
            on_panic();
            Err("the conversion function panicked".to_owned())
        });
    match converted {
        Ok(converted_objects) => ConversionResponse {
            uid: request.uid,
            converted_objects,
            result: Status {
                status: Some(Outcome::Success),
                ..Status::default()
            },
        },
        Err(message) => ConversionResponse {
            uid: request.uid,
            converted_objects: Vec::new(),
            result: Status::bad_request(message),
        },
    }
}

/// A response has the version of its request, or the current one when the request has none.
fn response_version(requested: String, current: &str) -> String {
    if requested.is_empty() {
        current.to_owned()
    } else {
        requested
    }
}

/// An invalid review gets an HTTP error: the API server would read a review without a decision as
/// one without an opinion.
async fn authorization(
    handler: &AuthorizationHandler,
    body: Result<Bytes, Status>,
    deadline: Instant,
    on_panic: impl Fn(),
) -> Response<Full<Bytes>> {
    let parsed = body.and_then(|bytes| -> Result<SubjectAccessReview, _> {
        parse(&bytes, "SubjectAccessReview", "authorization.k8s.io")
    });
    let mut review = match parsed {
        Ok(review) => review,
        Err(status) => return error_response(&status),
    };
    let spec = review.spec.clone();
    let called = AssertUnwindSafe(async { handler(spec, deadline).await }).catch_unwind();
    match timeout_at(deadline, called).await {
        Ok(Ok(status)) => {
            review.status = status;
            json_response(&review)
        }
        Ok(Err(_)) => {
            on_panic();
            error_response(&Status::internal("the authorizer's function panicked"))
        }
        Err(_) => error_response(&Status::internal(
            "the authorizer's function did not finish in time",
        )),
    }
}

/// Parses a review, whose type must be the given one, in a supported version. A review without a
/// type is accepted.
fn parse<T: DeserializeOwned>(bytes: &[u8], kind: &str, group: &str) -> Result<T, Status> {
    let invalid =
        |error: serde_json::Error| Status::bad_request(format!("read the review: {error}"));
    let found: TypeMeta = serde_json::from_slice(bytes).map_err(invalid)?;
    let version = found.api_version.strip_prefix(group);
    let is_version = found.api_version.is_empty() || matches!(version, Some("/v1" | "/v1beta1"));
    let is_kind = found.kind.is_empty() || found.kind == kind;
    if !is_version || !is_kind {
        return Err(Status::bad_request(format!(
            "read the review: expected {group}/v1, Kind={kind}, got {}, Kind={}",
            found.api_version, found.kind
        )));
    }
    serde_json::from_slice(bytes).map_err(invalid)
}

/// The type of an object.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct TypeMeta {
    api_version: String,
    kind: String,
}

fn json_response<T: Serialize>(value: &T) -> Response<Full<Bytes>> {
    match serde_json::to_vec(value) {
        Ok(bytes) => response(StatusCode::OK, "application/json", bytes.into()),
        Err(error) => text_response(
            StatusCode::INTERNAL_SERVER_ERROR,
            &format!("write the response: {error}\n"),
        ),
    }
}

fn error_response(status: &Status) -> Response<Full<Bytes>> {
    let code = StatusCode::from_u16(status.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    text_response(code, &format!("{status}\n"))
}

pub(super) fn text_response(code: StatusCode, text: &str) -> Response<Full<Bytes>> {
    response(code, "text/plain; charset=utf-8", text.to_owned().into())
}

fn response(code: StatusCode, media_type: &'static str, body: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = code;
    let content_type = HeaderValue::from_static(media_type);
    response.headers_mut().insert(CONTENT_TYPE, content_type);
    response
}
