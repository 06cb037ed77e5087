use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::future::BoxFuture;
use http::header::{HeaderMap, RETRY_AFTER, WARNING};
use http::{Method, Request, Response};
use kube::Client;
use kube::client::Body;
use parking_lot::Mutex;
use tokio::time::{Instant, sleep, timeout_at};
use tower::{BoxError, Service};

use super::rebuilt;
use crate::Error;
use crate::rate_limit::{RateLimit, TokenBucket};

/// How many different warnings are remembered; those after them are not logged.
const WARNINGS: usize = 1000;

/// How a client behaves towards an API server.
///
/// Warnings of the server are logged, each once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Manners {
    /// How many requests a second, all together; none means as many as there are. Leave it out
    /// unless somebody asks: the server protects itself, and says so with 429.
    pub limit: Option<RateLimit>,
    /// How often a request is sent again that the server was too busy for (429, or 5xx that says
    /// when to come back). One that makes something (POST) never is.
    pub retries: u32,
    /// How long the head of an answer may take, retries included.
    pub patience: Duration,
}

/// No limit, ten retries as client-go has them, one minute as the API server has it.
impl Default for Manners {
    fn default() -> Self {
        Self {
            limit: None,
            retries: 10,
            patience: Duration::from_secs(60),
        }
    }
}

impl Manners {
    /// The same client with these manners; clones of it share the limit.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime, as kube's client does.
    pub fn guard(self, client: Client) -> Client {
        let polite = Polite {
            client: client.clone(),
            manners: self,
            shared: Arc::default(),
        };
        rebuilt(&client, polite)
    }
}

/// A client with manners, as a service.
#[derive(Clone)]
struct Polite {
    client: Client,
    manners: Manners,
    shared: Arc<Mutex<Shared>>,
}

#[derive(Default)]
struct Shared {
    level: TokenBucket,
    warned: BTreeSet<String>,
}

impl Polite {
    async fn send(self, request: Request<Body>) -> Result<Response<Body>, BoxError> {
        let what = format!("{} {}", request.method(), request.uri().path());
        let deadline = Instant::now() + self.manners.patience;
        let late = |_| Error::TimedOut {
            what: what.clone(),
            after: self.manners.patience,
        };
        let mut again = spare(&request).filter(|_| request.method() != Method::POST);
        let mut request = request;
        let mut retries = self.manners.retries;
        loop {
            timeout_at(deadline, self.wait_for_a_turn())
                .await
                .map_err(late)?;
            let sent = timeout_at(deadline, self.client.send(request)).await;
            let answer = sent.map_err(late)??;
            self.tell_warnings(answer.headers());
            let wait = busy_for(&answer).filter(|_| retries > 0);
            let (Some(wait), Some(next)) = (wait, again.take()) else {
                return Ok(answer);
            };
            tracing::debug!(?wait, "{what}: the API server is busy; trying again");
            timeout_at(deadline, sleep(wait)).await.map_err(late)?;
            again = spare(&next);
            request = next;
            retries -= 1;
        }
    }

    async fn wait_for_a_turn(&self) {
        let Some(limit) = self.manners.limit else {
            return;
        };
        let wait = self.shared.lock().level.reserve(limit, Instant::now());
        if !wait.is_zero() {
            sleep(wait).await;
        }
    }

    /// `299 - "text"`, see RFC 7234; Kubernetes sends no other code.
    fn tell_warnings(&self, headers: &HeaderMap) {
        for warning in headers.get_all(WARNING) {
            let text = warning.to_str().unwrap_or_default();
            let text = text.strip_prefix("299 - ").unwrap_or(text);
            let text = text.trim_matches('"').replace("\\\"", "\"");
            let mut shared = self.shared.lock();
            if shared.warned.len() < WARNINGS && shared.warned.insert(text.clone()) {
                tracing::warn!("the API server warns: {text}");
            }
        }
    }
}

/// The same request once more, where its body can be had again.
fn spare(request: &Request<Body>) -> Option<Request<Body>> {
    let mut again = Request::new(request.body().try_clone()?);
    *again.method_mut() = request.method().clone();
    *again.uri_mut() = request.uri().clone();
    *again.headers_mut() = request.headers().clone();
    Some(again)
}

/// How long to stay away, when the server says that it had no time: it has not looked at the
/// request then.
fn busy_for(answer: &Response<Body>) -> Option<Duration> {
    let code = answer.status().as_u16();
    let said = answer.headers().get(RETRY_AFTER);
    let said = said.and_then(|value| value.to_str().ok()?.parse().ok());
    let said = said.map(Duration::from_secs);
    match code {
        429 => Some(said.unwrap_or(Duration::from_secs(1))),
        500..=599 => said,
        _ => None,
    }
}

impl Service<Request<Body>> for Polite {
    type Response = Response<Body>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Response<Body>, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        Box::pin(self.clone().send(request))
    }
}

impl fmt::Debug for Polite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Polite")
            .field("manners", &self.manners)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::Arc;
    use std::time::Duration;

    use http::{Method, Request, Response};
    use kube::Client;
    use kube::client::Body;
    use parking_lot::Mutex;
    use tokio::time::Instant;

    use super::Manners;
    use crate::rate_limit::RateLimit;

    type Times = Arc<Mutex<Vec<Duration>>>;

    /// An API server that is busy so many times.
    fn busy(times: usize, manners: Manners) -> (Client, Times) {
        let asked = Times::default();
        let (kept, start) = (Arc::clone(&asked), Instant::now());
        let service = tower::service_fn(move |_: Request<Body>| {
            let mut asked = kept.lock();
            asked.push(start.elapsed());
            let answer = match asked.len() > times {
                true => Response::builder().status(200),
                false => Response::builder().status(429).header("retry-after", "2"),
            };
            async move { Ok::<_, Infallible>(answer.body(Body::empty()).unwrap()) }
        });
        let client = Client::new(service, "default");
        (manners.guard(client), asked)
    }

    async fn send(client: &Client, method: Method) -> Result<u16, kube::Error> {
        let request = Request::builder().method(method).uri("/api/v1/pods");
        let request = request.body(Body::from(b"{}".to_vec())).unwrap();
        let answer = client.send(request).await?;
        Ok(answer.status().as_u16())
    }

    #[tokio::test(start_paused = true)]
    async fn a_busy_server_is_asked_again_when_it_says() {
        let (client, asked) = busy(2, Manners::default());
        assert_eq!(send(&client, Method::PUT).await.unwrap(), 200);
        let times: Vec<_> = asked.lock().iter().map(Duration::as_secs).collect();
        assert_eq!(times, [0, 2, 4]);
    }

    #[tokio::test(start_paused = true)]
    async fn what_makes_something_is_never_sent_twice() {
        let (client, asked) = busy(1, Manners::default());
        assert_eq!(send(&client, Method::POST).await.unwrap(), 429);
        assert_eq!(asked.lock().len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn patience_and_retries_have_an_end() {
        let (client, asked) = busy(99, Manners::default());
        assert_eq!(send(&client, Method::GET).await.unwrap(), 429);
        assert_eq!(asked.lock().len(), 11);
        let patience = Duration::from_secs(5);
        let hasty = Manners {
            patience,
            ..Manners::default()
        };
        let (client, asked) = busy(99, hasty);
        assert!(send(&client, Method::GET).await.is_err());
        assert_eq!(asked.lock().len(), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn all_requests_share_one_limit() {
        let limit = Some(RateLimit {
            per_second: 1.0,
            burst: 2,
        });
        let (client, asked) = busy(
            0,
            Manners {
                limit,
                ..Manners::default()
            },
        );
        let (one, other) = (client.clone(), client);
        let all = [&one, &other, &one, &other].map(|client| send(client, Method::GET));
        futures_util::future::join_all(all).await;
        let times: Vec<_> = asked.lock().iter().map(Duration::as_secs).collect();
        assert_eq!(times, [0, 0, 1, 2]);
    }
}
