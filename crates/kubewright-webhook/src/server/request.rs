//! One HTTP request of a webhook: its deadline, its body, and the metrics of its response.

use std::time::Duration;

use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderValue, Request, Response, StatusCode, Version};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Incoming as HyperBody;
use kubewright_http::Activity;
use kubewright_wire::status::Status;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use super::metrics::WebhookMetrics;
use super::options::ServeOptions;
use super::response::{respond, text_response};
use super::routes::Routes;

/// The part of the API server's timeout that is reserved for sending the response.
const MARGIN: Duration = Duration::from_millis(100);
/// The longest timeout of a webhook that the API server allows.
const MAX_TIMEOUT: Duration = Duration::from_secs(30);

/// The state that all connections of a server share.
pub(super) struct ServerState {
    pub(super) routes: Routes,
    pub(super) options: ServeOptions,
    pub(super) metrics: WebhookMetrics,
    /// Once it is canceled, responses have the header `connection: close`.
    pub(super) stop: CancellationToken,
}

/// Handles one request. A body that is not a valid review gets a review as response, because the
/// API server shows its message to the client.
pub(super) async fn handle(
    server: &ServerState,
    activity: &Activity,
    request: Request<HyperBody>,
) -> Response<Full<Bytes>> {
    let (parts, body) = request.into_parts();
    let path = parts.uri.path();
    let Some(route) = server.routes.find(path) else {
        return text_response(StatusCode::NOT_FOUND, "404 page not found\n");
    };
    let measured = server.metrics.begin(path);
    let deadline = deadline(&parts, server.options.timeout);
    let read = read_body(&parts, body, server.options.body_limit);
    let review = timeout_at(deadline, read).await.unwrap_or_else(|_| {
        Err(Status::failure(
            408,
            None,
            "the body did not arrive in time",
        ))
    });
    // The request counts as in flight only now: a client that is slow to send may be evicted.
    let _in_flight = activity.begin();
    if review.is_ok() {
        activity.trust();
    }
    let on_panic = || server.metrics.count_panic(path);
    let mut response = respond(route, review, deadline, on_panic).await;
    measured.finish(response.status().as_u16());
    if server.stop.is_cancelled() && parts.version == Version::HTTP_11 {
        response
            .headers_mut()
            .insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// The API server sends its timeout in the query: `?timeout=10s`.
fn deadline(parts: &Parts, default: Duration) -> Instant {
    let requested = parts.uri.query().and_then(|query| {
        let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        let (_, text) = pairs.find(|(name, _)| *name == "timeout")?;
        let seconds = text.strip_suffix('s')?.parse().ok()?;
        Some(Duration::from_secs(seconds))
    });
    let timeout = requested.unwrap_or(default).min(MAX_TIMEOUT);
    Instant::now() + timeout.saturating_sub(MARGIN)
}

async fn read_body(parts: &Parts, body: HyperBody, limit: usize) -> Result<Bytes, Status> {
    let content_type = parts
        .headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
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
    if bytes.is_empty() {
        return Err(Status::bad_request("request body is empty"));
    }
    Ok(bytes)
}
