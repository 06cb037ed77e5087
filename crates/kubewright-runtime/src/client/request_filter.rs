//! Filters: functions that see each request of a client and the head of its response.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http::{Request, Response};
use kube::client::Body;
use pin_project_lite::pin_project;
use tower::{BoxError, Layer, Service};

use super::{Blocked, ResponseBody};

/// A filter that all requests of a client pass. It can change or block a request before it is sent,
/// and sees the head of the response.
///
/// Typed, dynamic and raw calls all end in an HTTP request, so that a filter sees all of them.
///
/// ```
/// use http::{Method, Request};
/// use kube::client::Body;
/// use kubewright_runtime::client::{Blocked, RequestFilter, with_layer};
///
/// /// Blocks deletes.
/// #[derive(Clone)]
/// struct NoDeletes;
///
/// impl RequestFilter for NoDeletes {
///     type RequestState = ();
///
///     fn before(&self, request: &mut Request<Body>) -> Result<(), Blocked> {
///         if request.method() == Method::DELETE {
///             return Err(Blocked::new("this client does not delete"));
///         }
///         Ok(())
///     }
/// }
///
/// # fn with(client: kube::Client) {
/// let client = with_layer(&client, NoDeletes.layer());
/// # }
/// ```
pub trait RequestFilter: Clone + Send + 'static {
    /// What the filter keeps of a request until the response arrives.
    type RequestState: Send + 'static;

    /// Called before a request is sent. A request that is blocked never reaches the API server.
    fn before(&self, request: &mut Request<Body>) -> Result<Self::RequestState, Blocked>;

    /// Called with the head of the response, or with the reason why there is none. Not called for
    /// a request that this filter has blocked.
    fn after(
        &self,
        _state: Self::RequestState,
        _response: &Result<Response<ResponseBody>, BoxError>,
    ) {
    }

    /// The filter as a layer of a client.
    fn layer(self) -> RequestFilterLayer<Self> {
        RequestFilterLayer::new(self)
    }
}

/// The layer of a [`RequestFilter`].
#[derive(Clone, Copy, Debug)]
pub struct RequestFilterLayer<F> {
    filter: F,
}

impl<F> RequestFilterLayer<F> {
    /// The layer that passes each request through `filter`.
    pub fn new(filter: F) -> Self {
        Self { filter }
    }
}

impl<F: Clone, S> Layer<S> for RequestFilterLayer<F> {
    type Service = Filtered<F, S>;

    fn layer(&self, inner: S) -> Filtered<F, S> {
        Filtered {
            filter: self.filter.clone(),
            inner,
        }
    }
}

/// A service behind a [`RequestFilter`].
#[derive(Clone)]
pub struct Filtered<F, S> {
    filter: F,
    inner: S,
}

impl<F, S> Service<Request<Body>> for Filtered<F, S>
where
    F: RequestFilter,
    S: Service<Request<Body>, Response = Response<ResponseBody>, Error: Into<BoxError>>,
{
    type Response = Response<ResponseBody>;
    type Error = BoxError;
    type Future = FilteredFuture<F, S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        let progress = match self.filter.before(&mut request) {
            Ok(state) => Progress::Sent {
                filter: self.filter.clone(),
                state: Some(state),
                response: self.inner.call(request),
            },
            Err(blocked) => Progress::Blocked {
                blocked: Some(blocked),
            },
        };
        FilteredFuture { progress }
    }
}

impl<F: fmt::Debug, S> fmt::Debug for Filtered<F, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Filtered")
            .field("filter", &self.filter)
            .finish_non_exhaustive()
    }
}

pin_project! {
    /// The response of a [`Filtered`] service.
    pub struct FilteredFuture<F, R>
    where
        F: RequestFilter,
    {
        #[pin]
        progress: Progress<F, R>,
    }
}

pin_project! {
    #[project = ProgressProjection]
    enum Progress<F, R>
    where
        F: RequestFilter,
    {
        Blocked {
            blocked: Option<Blocked>,
        },
        Sent {
            filter: F,
            state: Option<F::RequestState>,
            #[pin]
            response: R,
        },
    }
}

impl<F, R, E> Future for FilteredFuture<F, R>
where
    F: RequestFilter,
    R: Future<Output = Result<Response<ResponseBody>, E>>,
    E: Into<BoxError>,
{
    type Output = Result<Response<ResponseBody>, BoxError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        const POLLED_AGAIN: &str = "a future is not polled after it is ready";
        match self.project().progress.project() {
            ProgressProjection::Blocked { blocked } => {
                let blocked = blocked.take().expect(POLLED_AGAIN);
                Poll::Ready(Err(blocked.into()))
            }
            ProgressProjection::Sent {
                filter,
                state,
                response,
            } => {
                let response = ready!(response.poll(cx)).map_err(Into::into);
                filter.after(state.take().expect(POLLED_AGAIN), &response);
                Poll::Ready(response)
            }
        }
    }
}

impl<F: RequestFilter, R> fmt::Debug for FilteredFuture<F, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FilteredFuture").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use http::{Method, Request, Response};
    use kube::Client;
    use kube::client::Body;
    use tower::BoxError;

    use super::RequestFilter;
    use crate::client::{Blocked, ResponseBody, with_layer};

    /// Blocks deletes, and adds up the numbers of the requests that got a response.
    #[derive(Clone, Default)]
    struct Numbered {
        next: Arc<AtomicU32>,
        responses: Arc<AtomicU32>,
    }

    impl RequestFilter for Numbered {
        type RequestState = u32;

        fn before(&self, request: &mut Request<Body>) -> Result<u32, Blocked> {
            if request.method() == Method::DELETE {
                return Err(Blocked::new("nothing is deleted here"));
            }
            Ok(self.next.fetch_add(1, Ordering::SeqCst) + 1)
        }

        fn after(&self, number: u32, response: &Result<Response<ResponseBody>, BoxError>) {
            assert!(response.is_ok());
            self.responses.fetch_add(number, Ordering::SeqCst);
        }
    }

    #[tokio::test]
    async fn blocked_request_is_not_sent_and_has_no_response() {
        let sent = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&sent);
        let service = tower::service_fn(move |_: Request<Body>| {
            counted.fetch_add(1, Ordering::SeqCst);
            async { Ok::<_, std::convert::Infallible>(Response::new(Body::empty())) }
        });
        let filter = Numbered::default();
        let client = with_layer(&Client::new(service, "web"), filter.clone().layer());
        assert_eq!(client.default_namespace(), "web");
        for method in [Method::GET, Method::DELETE, Method::PUT] {
            let request = Request::builder().method(&method).uri("/api/v1/pods");
            let response = client.send(request.body(Body::empty()).unwrap()).await;
            assert_eq!(response.is_ok(), method != Method::DELETE);
            let error = response.err();
            assert!(error.is_none_or(|error| Blocked::is_cause_of(&error)));
        }
        assert_eq!(sent.load(Ordering::SeqCst), 2);
        assert_eq!(filter.responses.load(Ordering::SeqCst), 1 + 2);
    }
}
