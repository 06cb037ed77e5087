//! The client layer that injects faults into the requests of an operator.

use std::future::{pending, ready};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full};
use kubewright::Verb;
use kubewright_wire::route::Route;
use kubewright_wire::status::Status;
use tower::{BoxError, Layer, Service};

use super::FaultInjector;
use super::fault::Effect;
use super::watch_body::{Encoding, OpenWatch, WatchBody};

/// The error of a request that was not sent.
const UNREACHABLE: &str = "no connection, by a test";

/// The faults of one run of an operator.
#[derive(Clone, Debug, Default)]
pub(crate) struct FaultLayer {
    injector: FaultInjector,
    /// Whether the run has crashed: it sends no more requests.
    crashed: Arc<AtomicBool>,
}

impl FaultLayer {
    pub(crate) fn new(injector: &FaultInjector) -> Self {
        Self {
            injector: injector.clone(),
            crashed: Arc::default(),
        }
    }

    pub(crate) fn has_crashed(&self) -> bool {
        self.crashed.load(Ordering::Relaxed)
    }

    /// Makes the response to a watch request one that can be ended by a test.
    fn track_watch(&self, response: BoxedResponse, watch: Option<OpenWatch>) -> BoxedResponse {
        let Some(watch) = watch.filter(|_| response.status().is_success()) else {
            return response;
        };
        let encoding = Encoding::of(response.headers());
        let tracked = response.map(|body| WatchBody::new(body, encoding, &watch).boxed_unsync());
        self.injector.add_watch(watch);
        tracked
    }
}

impl<S> Layer<S> for FaultLayer {
    type Service = FaultService<S>;

    fn layer(&self, inner: S) -> FaultService<S> {
        FaultService {
            inner,
            layer: self.clone(),
        }
    }
}

/// The service of a [`FaultLayer`].
#[derive(Clone, Debug)]
pub(crate) struct FaultService<S> {
    inner: S,
    layer: FaultLayer,
}

type BoxedResponse = Response<UnsyncBoxBody<Bytes, BoxError>>;
type ResponseFuture = Pin<Box<dyn Future<Output = Result<BoxedResponse, BoxError>> + Send>>;

impl<S, B, R> Service<Request<B>> for FaultService<S>
where
    S: Service<Request<B>, Response = Response<R>, Error: Into<BoxError>>,
    S::Future: Send + 'static,
    R: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    type Response = BoxedResponse;
    type Error = BoxError;
    type Future = ResponseFuture;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, request: Request<B>) -> ResponseFuture {
        if self.layer.has_crashed() {
            return Box::pin(pending());
        }
        if self.layer.injector.has_outage() {
            return Box::pin(ready(Err(UNREACHABLE.into())));
        }
        let uri = request.uri();
        let parsed = Route::parse(request.method(), uri.path(), uri.query());
        let route = parsed.resource();
        let effect = route.and_then(|route| self.layer.injector.decide(route));
        match &effect {
            Some(Effect::Reject(status)) => {
                return Box::pin(ready(Ok(error_response(status))));
            }
            Some(Effect::Unreachable) => {
                return Box::pin(ready(Err(UNREACHABLE.into())));
            }
            Some(Effect::LostResponse | Effect::Crash) | None => {}
        }
        let watch = route
            .filter(|route| route.verb == Verb::Watch)
            .map(|route| OpenWatch::new(route.rule_resource()));
        let response = self.inner.call(request);
        let layer = self.layer.clone();
        Box::pin(async move {
            let response = response.await.map_err(Into::into);
            match effect {
                Some(Effect::Crash) => {
                    layer.crashed.store(true, Ordering::Relaxed);
                    pending().await
                }
                Some(_) => Err("the response was lost by a test".into()),
                // A run that crashed in the meantime gets no response either.
                None if layer.has_crashed() => pending().await,
                None => {
                    let boxed = response?.map(|body| body.map_err(Into::into).boxed_unsync());
                    Ok(layer.track_watch(boxed, watch))
                }
            }
        })
    }
}

/// The response of an API server to a request that fails.
fn error_response(status: &Status) -> BoxedResponse {
    let body = serde_json::to_vec(status).unwrap_or_default();
    let body = Full::new(Bytes::from(body)).map_err(|never| match never {});
    let mut response = Response::new(body.boxed_unsync());
    *response.status_mut() =
        StatusCode::from_u16(status.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use http::{Request, Response};
    use http_body_util::{BodyExt as _, Empty, Full, StreamBody};
    use tower::{Layer as _, Service as _, service_fn};

    use super::FaultLayer;
    use crate::faults::{Fault, FaultInjector, WatchEnd};
    use kubewright::Verb;

    type Event = Result<http_body::Frame<bytes::Bytes>, Infallible>;

    const PODS: &str = "/api/v1/namespaces/a/pods";

    fn request(method: &str, path: &str) -> Request<()> {
        Request::builder()
            .method(method)
            .uri(path)
            .body(())
            .unwrap()
    }

    #[tokio::test]
    async fn fault_affects_the_named_requests_after_the_first_ones() {
        let injector = FaultInjector::default();
        let mut service = FaultLayer::new(&injector).layer(service_fn(async |_: Request<()>| {
            Ok::<_, Infallible>(Response::new(Full::<bytes::Bytes>::from("ok")))
        }));
        let fault = Fault::quota_exceeded().on(Verb::Patch, "pods").after(1);
        let injected = injector.inject(fault);
        let mut codes = Vec::new();
        for (method, path) in [
            ("PATCH", "pods/p"),
            ("GET", "pods/p"),
            ("PATCH", "pods/p/status"),
            ("PATCH", "pods/p"),
            ("PATCH", "pods/p"),
        ] {
            let path = format!("/api/v1/namespaces/a/{path}");
            let response = service.call(request(method, &path)).await.unwrap();
            codes.push(response.status().as_u16());
        }
        assert_eq!(codes, [200, 200, 200, 403, 200]);
        assert_eq!(injected.count(), 1);
        assert_eq!(injector.writes().len(), 4);
        assert!(injector.take_not_triggered().is_empty());
        injector.inject(Fault::conflict());
        assert_eq!(
            injector.take_not_triggered(),
            ["status 409 for a write, once"]
        );
    }

    #[tokio::test]
    async fn request_with_a_lost_response_is_sent_and_a_crashed_run_sends_no_more() {
        let injector = FaultInjector::default();
        let sent = std::sync::Arc::new(parking_lot::Mutex::new(0));
        let count = std::sync::Arc::clone(&sent);
        let layer = FaultLayer::new(&injector);
        let mut service = layer.layer(service_fn(move |_: Request<()>| {
            *count.lock() += 1;
            async { Ok::<_, Infallible>(Response::new(Empty::<bytes::Bytes>::new())) }
        }));
        injector.inject(Fault::lost_response());
        injector.inject(Fault::crash());
        assert!(service.call(request("POST", PODS)).await.is_err());
        let crashed = service.call(request("POST", PODS));
        tokio::select! {
            biased;
            _ = crashed => unreachable!("a crashed run gets no response"),
            () = tokio::task::yield_now() => {}
        }
        assert!(layer.has_crashed());
        drop(service.call(request("POST", PODS)));
        assert_eq!(*sent.lock(), 2);
    }

    #[tokio::test]
    async fn outage_closes_watches_and_fails_requests() {
        let injector = FaultInjector::default();
        let mut service = FaultLayer::new(&injector).layer(service_fn(async |_: Request<()>| {
            let silent = futures_util::stream::pending::<Event>();
            Ok::<_, Infallible>(Response::new(StreamBody::new(silent)))
        }));
        let response = service.call(request("GET", "/api/v1/pods?watch=1")).await;
        let mut body = response.unwrap().into_body();
        let outage = injector.start_outage();
        assert!(body.frame().await.unwrap().is_err());
        for path in [PODS, "/version"] {
            assert!(service.call(request("GET", path)).await.is_err(), "{path}");
        }
        drop(outage);
        assert!(service.call(request("GET", PODS)).await.is_ok());
    }

    #[tokio::test]
    async fn open_watch_can_be_closed_or_expire() {
        for (end, is_event) in [(WatchEnd::Expired, true), (WatchEnd::Cut, false)] {
            let injector = FaultInjector::default();
            let mut service =
                FaultLayer::new(&injector).layer(service_fn(async |_: Request<()>| {
                    let silent = futures_util::stream::pending::<Event>();
                    Ok::<_, Infallible>(Response::new(StreamBody::new(silent)))
                }));
            let response = service.call(request("GET", "/api/v1/pods?watch=1")).await;
            let mut body = response.unwrap().into_body();
            assert_eq!(injector.end_watches("nodes", end), 0);
            assert_eq!(injector.end_watches("pods", end), 1);
            let frame = body.frame().await.unwrap();
            assert_eq!(frame.is_ok(), is_event);
            assert!(body.frame().await.is_none());
            assert_eq!(injector.end_watches("pods", end), 0);
        }
    }
}
