//! Rate limit, retries and timeout of a client as one value.

use std::time::Duration;

use kube::Client;
use tower::retry::{Retry, RetryLayer};
use tower::util::Either;
use tower::{Layer, ServiceBuilder};

use super::rate_limit::{RateLimitLayer, RateLimited};
use super::retry_after::RetryAfter;
use super::timeout::{Timeout, TimeoutLayer};
use super::warnings::WarningLog;
use crate::client::{Filtered, RequestFilter as _, RequestFilterLayer, with_layer};
use crate::rate_limit::RateLimit;

/// The limits of a client towards an API server.
///
/// Warnings of the server are logged, each once.
///
/// ```
/// use kubewright_runtime::RateLimit;
/// use kubewright_runtime::client::ClientLimits;
///
/// # fn with(client: kube::Client) {
/// let limits = ClientLimits {
///     rate_limit: Some(RateLimit { per_second: 20.0, burst: 30 }),
///     ..ClientLimits::default()
/// };
/// let client = limits.wrap(&client);
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClientLimits {
    /// How many requests are sent per second, retries included; none means no limit. Without a
    /// limit the server protects itself: it responds with 429 when it is overloaded (API priority
    /// and fairness).
    pub rate_limit: Option<RateLimit>,
    /// How often a request is retried when the server is overloaded: a response of 429, or of 5xx
    /// with `Retry-After`. A create (POST) is never retried.
    pub retries: u32,
    /// How long the head of the response may take, retries included.
    pub timeout: Duration,
}

impl Default for ClientLimits {
    /// No rate limit; ten retries, as client-go; a timeout of one minute, as the API server's
    /// `--request-timeout`.
    fn default() -> Self {
        Self {
            rate_limit: None,
            retries: 10,
            timeout: Duration::from_secs(60),
        }
    }
}

impl ClientLimits {
    /// The limits as a layer. All services that the layer makes, and their clones, share the rate
    /// limit.
    pub fn layer(self) -> ClientLimitsLayer {
        ClientLimitsLayer {
            timeout: TimeoutLayer::new(self.timeout),
            retry: (self.retries > 0).then(|| RetryLayer::new(RetryAfter::new(self.retries))),
            rate_limit: self.rate_limit.map(RateLimitLayer::new),
            warnings: WarningLog::default().layer(),
        }
    }

    /// The client with these limits. Its clones share the rate limit.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime, as kube's client does.
    pub fn wrap(self, client: &Client) -> Client {
        with_layer(client, self.layer())
    }
}

/// The layer of [`ClientLimits`].
#[derive(Clone, Debug)]
pub struct ClientLimitsLayer {
    timeout: TimeoutLayer,
    retry: Option<RetryLayer<RetryAfter>>,
    rate_limit: Option<RateLimitLayer>,
    warnings: RequestFilterLayer<WarningLog>,
}

impl<S> Layer<S> for ClientLimitsLayer {
    type Service = Limited<S>;

    // The timeout covers all attempts; the rate limit and the log of warnings apply to each.
    fn layer(&self, inner: S) -> Limited<S> {
        ServiceBuilder::new()
            .layer(self.timeout)
            .option_layer(self.retry.clone())
            .option_layer(self.rate_limit.clone())
            .layer(self.warnings.clone())
            .service(inner)
    }
}

/// A service with the limits of a [`ClientLimits`].
pub type Limited<S> = Timeout<Retried<Paced<Logged<S>>>>;

/// Retried where retries are set.
type Retried<S> = Either<Retry<RetryAfter, S>, S>;
/// Behind the rate limit where one is set.
type Paced<S> = Either<RateLimited<S>, S>;
/// With the warnings of its responses in the log.
type Logged<S> = Filtered<WarningLog, S>;

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

    use super::ClientLimits;
    use crate::rate_limit::RateLimit;

    type Times = Arc<Mutex<Vec<Duration>>>;

    /// A client of an API server that responds with 429 this many times; and when it received
    /// requests.
    fn overloaded(times: usize, limits: ClientLimits) -> (Client, Times) {
        let received = Times::default();
        let (log, start) = (Arc::clone(&received), Instant::now());
        let service = tower::service_fn(move |_: Request<Body>| {
            let mut received = log.lock();
            received.push(start.elapsed());
            let response = if received.len() > times {
                Response::builder().status(200)
            } else {
                Response::builder().status(429).header("retry-after", "2")
            };
            async move { Ok::<_, Infallible>(response.body(Body::empty()).unwrap()) }
        });
        let client = Client::new(service, "default");
        (limits.wrap(&client), received)
    }

    async fn send(client: &Client, method: Method) -> Result<u16, kube::Error> {
        let request = Request::builder().method(method).uri("/api/v1/pods");
        let request = request.body(Body::from(b"{}".to_vec())).unwrap();
        let response = client.send(request).await?;
        Ok(response.status().as_u16())
    }

    #[tokio::test(start_paused = true)]
    async fn overloaded_server_is_retried_after_the_delay_it_sets() {
        let (client, received) = overloaded(2, ClientLimits::default());
        assert_eq!(send(&client, Method::PUT).await.unwrap(), 200);
        let times: Vec<_> = received.lock().iter().map(Duration::as_secs).collect();
        assert_eq!(times, [0, 2, 4]);
    }

    #[tokio::test(start_paused = true)]
    async fn create_is_never_retried() {
        let (client, received) = overloaded(1, ClientLimits::default());
        assert_eq!(send(&client, Method::POST).await.unwrap(), 429);
        assert_eq!(received.lock().len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn retries_end_with_their_number_or_the_timeout() {
        let (client, received) = overloaded(99, ClientLimits::default());
        assert_eq!(send(&client, Method::GET).await.unwrap(), 429);
        assert_eq!(received.lock().len(), 11);
        let limits = ClientLimits {
            timeout: Duration::from_secs(5),
            ..ClientLimits::default()
        };
        let (client, received) = overloaded(99, limits);
        let error = send(&client, Method::GET).await.unwrap_err();
        assert!(error.to_string().contains("timed out after 5s"), "{error}");
        assert_eq!(received.lock().len(), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn clones_share_one_rate_limit() {
        let limits = ClientLimits {
            rate_limit: Some(RateLimit {
                per_second: 1.0,
                burst: 2,
            }),
            ..ClientLimits::default()
        };
        let (first, received) = overloaded(0, limits);
        let second = first.clone();
        let all = [&first, &second, &first, &second].map(|client| send(client, Method::GET));
        futures_util::future::join_all(all).await;
        let times: Vec<_> = received.lock().iter().map(Duration::as_secs).collect();
        assert_eq!(times, [0, 0, 1, 2]);
    }
}
