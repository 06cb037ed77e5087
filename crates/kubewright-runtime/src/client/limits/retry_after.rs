//! Retries of requests that an overloaded server did not process.

use std::time::Duration;

use http::header::RETRY_AFTER;
use http::{Method, Request, Response};
use kube::client::Body;
use tokio::time::{Sleep, sleep};
use tower::BoxError;
use tower::retry::Policy;

use crate::client::ResponseBody;

/// The delay after a 429 without `Retry-After`.
const DEFAULT_DELAY: Duration = Duration::from_secs(1);

/// Retries a request after the delay that the server sets, for [`tower::retry::RetryLayer`].
///
/// A create (POST) is not retried: a proxy may have sent it on, and the server does not recognize
/// it as a repetition. A request whose body is a stream is not retried either.
#[derive(Clone, Copy, Debug)]
pub struct RetryAfter {
    left: u32,
}

impl RetryAfter {
    /// Retries each request at most this often.
    pub fn new(retries: u32) -> Self {
        Self { left: retries }
    }
}

impl Policy<Request<Body>, Response<ResponseBody>, BoxError> for RetryAfter {
    type Future = Sleep;

    fn retry(
        &mut self,
        request: &mut Request<Body>,
        result: &mut Result<Response<ResponseBody>, BoxError>,
    ) -> Option<Sleep> {
        let delay = requested_delay(result.as_ref().ok()?)?;
        self.left = self.left.checked_sub(1)?;
        tracing::debug!(
            ?delay,
            "{} {}: the API server is overloaded; retrying",
            request.method(),
            request.uri().path()
        );
        Some(sleep(delay))
    }

    fn clone_request(&mut self, request: &Request<Body>) -> Option<Request<Body>> {
        if request.method() == Method::POST {
            return None;
        }
        let mut clone = Request::new(request.body().try_clone()?);
        *clone.method_mut() = request.method().clone();
        *clone.uri_mut() = request.uri().clone();
        *clone.headers_mut() = request.headers().clone();
        Some(clone)
    }
}

/// The delay after which the server accepts the request. None when it has processed the request.
///
/// client-go retries the same responses, except for a 429 without `Retry-After` (rest/with_retry.go,
/// `checkWait`).
fn requested_delay(response: &Response<ResponseBody>) -> Option<Duration> {
    let retry_after = response
        .headers()
        .get(RETRY_AFTER)
        .and_then(|value| value.to_str().ok()?.parse().ok())
        .map(Duration::from_secs);
    match response.status().as_u16() {
        429 => Some(retry_after.unwrap_or(DEFAULT_DELAY)),
        500..=599 => retry_after,
        _ => None,
    }
}
