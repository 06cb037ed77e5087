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

use super::Script;
use super::fault::Effect;
use super::watch_body::{Form, OpenWatch, WatchBody};

/// Why a request was not sent.
const UNREACHABLE: &str = "no connection, by a test";

/// The way out of one run of an operator: what it asks passes here, or does not.
#[derive(Clone, Debug, Default)]
pub(crate) struct Door {
    script: Script,
    /// Whether the run has crashed: it asks nothing more.
    closed: Arc<AtomicBool>,
}

impl Door {
    pub(crate) fn new(script: &Script) -> Self {
        Self {
            script: script.clone(),
            closed: Arc::default(),
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }
}

impl<S> Layer<S> for Door {
    type Service = Doorway<S>;

    fn layer(&self, inner: S) -> Doorway<S> {
        Doorway {
            inner,
            door: self.clone(),
        }
    }
}

/// The service behind a door.
#[derive(Clone, Debug)]
pub(crate) struct Doorway<S> {
    inner: S,
    door: Door,
}

type Answer = Response<UnsyncBoxBody<Bytes, BoxError>>;
type Answering = Pin<Box<dyn Future<Output = Result<Answer, BoxError>> + Send>>;

impl<S, B, R> Service<Request<B>> for Doorway<S>
where
    S: Service<Request<B>, Response = Response<R>, Error: Into<BoxError>>,
    S::Future: Send + 'static,
    R: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    type Response = Answer;
    type Error = BoxError;
    type Future = Answering;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, request: Request<B>) -> Answering {
        if self.door.is_closed() {
            return Box::pin(pending());
        }
        if self.door.script.is_away() {
            return Box::pin(ready(Err(UNREACHABLE.into())));
        }
        let uri = request.uri();
        let route = Route::parse(request.method(), uri.path(), uri.query());
        let route = route.resource();
        let effect = route.and_then(|route| self.door.script.decide(route));
        match &effect {
            Some(Effect::Refuse(status)) => return Box::pin(ready(Ok(refusal(status)))),
            Some(Effect::Unreachable) => {
                return Box::pin(ready(Err(UNREACHABLE.into())));
            }
            Some(Effect::LostAnswer | Effect::Crash) | None => {}
        }
        let watch = route.filter(|route| route.verb == Verb::Watch);
        let watch = watch.map(|route| OpenWatch::new(route.rule_resource()));
        let answer = self.inner.call(request);
        let door = self.door.clone();
        Box::pin(async move {
            let answer = answer.await.map_err(Into::into);
            match effect {
                Some(Effect::Crash) => {
                    door.closed.store(true, Ordering::Relaxed);
                    pending().await
                }
                Some(_) => Err("the answer was lost by a test".into()),
                // A run that has crashed meanwhile sees no answer either.
                None if door.is_closed() => pending().await,
                None => {
                    let answer = answer?;
                    let answer = answer.map(|body| body.map_err(Into::into).boxed_unsync());
                    Ok(door.follow(answer, watch))
                }
            }
        })
    }
}

impl Door {
    /// Lets a watch that has begun be ended later.
    fn follow(&self, answer: Answer, watch: Option<OpenWatch>) -> Answer {
        let Some(watch) = watch.filter(|_| answer.status().is_success()) else {
            return answer;
        };
        let form = Form::of(answer.headers());
        let answer = answer.map(|body| WatchBody::new(body, form, &watch).boxed_unsync());
        self.script.add_watch(watch);
        answer
    }
}

/// The answer of an API server that says no.
fn refusal(status: &Status) -> Answer {
    let body = serde_json::to_vec(status).unwrap_or_default();
    let body = Full::new(Bytes::from(body)).map_err(|never| match never {});
    let mut answer = Response::new(body.boxed_unsync());
    *answer.status_mut() =
        StatusCode::from_u16(status.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    answer
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use http::{Request, Response};
    use http_body_util::{BodyExt as _, Empty, Full, StreamBody};
    use tower::{Layer as _, Service as _, service_fn};

    use super::Door;
    use crate::faults::{Ending, Fault, Script};
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
    async fn a_fault_is_for_the_requests_it_names_and_lets_the_first_ones_pass() {
        let script = Script::default();
        let mut service = Door::new(&script).layer(service_fn(async |_: Request<()>| {
            Ok::<_, Infallible>(Response::new(Full::<bytes::Bytes>::from("ok")))
        }));
        let fault = Fault::quota_exceeded().on(Verb::Patch, "pods").after(1);
        let injected = script.inject(fault);
        let mut codes = Vec::new();
        for (method, path) in [
            ("PATCH", "pods/p"),
            ("GET", "pods/p"),
            ("PATCH", "pods/p/status"),
            ("PATCH", "pods/p"),
            ("PATCH", "pods/p"),
        ] {
            let path = format!("/api/v1/namespaces/a/{path}");
            let answer = service.call(request(method, &path)).await.unwrap();
            codes.push(answer.status().as_u16());
        }
        assert_eq!(codes, [200, 200, 200, 403, 200]);
        assert_eq!(injected.met(), 1);
        assert_eq!(script.writes().len(), 4);
        assert!(script.take_unmet().is_empty());
        script.inject(Fault::conflict());
        assert_eq!(script.take_unmet(), ["refusal 409 of a write, once"]);
    }

    #[tokio::test]
    async fn a_lost_answer_was_carried_out_and_a_crashed_run_asks_nothing_more() {
        let script = Script::default();
        let carried_out = std::sync::Arc::new(parking_lot::Mutex::new(0));
        let count = std::sync::Arc::clone(&carried_out);
        let door = Door::new(&script);
        let mut service = door.layer(service_fn(move |_: Request<()>| {
            *count.lock() += 1;
            async { Ok::<_, Infallible>(Response::new(Empty::<bytes::Bytes>::new())) }
        }));
        script.inject(Fault::lost_answer());
        script.inject(Fault::crash());
        assert!(service.call(request("POST", PODS)).await.is_err());
        let crashed = service.call(request("POST", PODS));
        tokio::select! {
            biased;
            _ = crashed => unreachable!("nobody lives to see it"),
            () = tokio::task::yield_now() => {}
        }
        assert!(door.is_closed());
        drop(service.call(request("POST", PODS)));
        assert_eq!(*carried_out.lock(), 2);
    }

    #[tokio::test]
    async fn a_server_that_is_away_answers_nobody_and_has_no_open_watches() {
        let script = Script::default();
        let mut service = Door::new(&script).layer(service_fn(async |_: Request<()>| {
            let silent = futures_util::stream::pending::<Event>();
            Ok::<_, Infallible>(Response::new(StreamBody::new(silent)))
        }));
        let answer = service.call(request("GET", "/api/v1/pods?watch=1")).await;
        let mut body = answer.unwrap().into_body();
        let away = script.go_away();
        assert!(body.frame().await.unwrap().is_err());
        for path in [PODS, "/version"] {
            assert!(service.call(request("GET", path)).await.is_err(), "{path}");
        }
        drop(away);
        assert!(service.call(request("GET", PODS)).await.is_ok());
    }

    #[tokio::test]
    async fn an_open_watch_can_be_cut_or_expire() {
        for (ending, is_event) in [(Ending::Expired, true), (Ending::Cut, false)] {
            let script = Script::default();
            let mut service = Door::new(&script).layer(service_fn(async |_: Request<()>| {
                let silent = futures_util::stream::pending::<Event>();
                Ok::<_, Infallible>(Response::new(StreamBody::new(silent)))
            }));
            let answer = service.call(request("GET", "/api/v1/pods?watch=1")).await;
            let mut body = answer.unwrap().into_body();
            assert_eq!(script.end_watches("nodes", ending), 0);
            assert_eq!(script.end_watches("pods", ending), 1);
            let frame = body.frame().await.unwrap();
            assert_eq!(frame.is_ok(), is_event);
            assert!(body.frame().await.is_none());
            assert_eq!(script.end_watches("pods", ending), 0);
        }
    }
}
