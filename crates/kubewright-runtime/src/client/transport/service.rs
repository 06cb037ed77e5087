//! The innermost service of a client, below all layers.

use std::fmt;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::BodyExt as _;
use http_body_util::combinators::UnsyncBoxBody;
use jiff::Timestamp;
use kube::client::Body;
use kube::{Client, Config};
use kubewright_core::Clock;
use tower::layer::util::Identity;
use tower::util::BoxCloneSyncService;
use tower::{BoxError, Layer, Service, ServiceBuilder, service_fn};

use super::http_transport::HttpTransport;
use crate::Error;

/// The body of a response, with its type erased.
pub type ResponseBody = UnsyncBoxBody<Bytes, BoxError>;

/// A service that sends requests to an API server, with its type erased: what the layers of a client
/// wrap.
pub type RequestService = BoxCloneSyncService<Request<Body>, Response<ResponseBody>, BoxError>;

/// The innermost service of a client: a connection to an API server, or another client.
///
/// [`client_with`](Self::client_with) builds one client out of it and of any number of layers. So
/// each request passes one buffer (kube's client has one), however many layers there are. Clones
/// share the connections.
///
/// ```
/// use kubewright_runtime::client::{ClientLimits, RequestFilter as _, Transport, WriteOptions};
/// use tower::ServiceBuilder;
///
/// # fn with(client: kube::Client) {
/// let dry_run = WriteOptions { dry_run: true, ..WriteOptions::default() };
/// // The first layer sees a request first.
/// let layers = ServiceBuilder::new()
///     .layer(dry_run.layer())
///     .layer(ClientLimits::default().layer());
/// let client = Transport::from(client).client_with(layers.into_inner());
/// # }
/// ```
#[derive(Clone)]
pub struct Transport {
    service: RequestService,
    default_namespace: String,
    valid_until: Option<Timestamp>,
}

impl Transport {
    /// Connects to the API server of a configuration: HTTP/1.1 over TLS, on connections that are
    /// reused. Nothing is sent yet.
    ///
    /// See [`connect`](crate::client::connect) for what is supported.
    pub fn connect(config: &Config, user_agent: &str) -> Result<Self, Error> {
        let http = HttpTransport::new(config, user_agent, Clock::system());
        let http = http.map_err(|error| Error::Client {
            server: config.cluster_url.to_string(),
            source: error.into(),
        })?;
        let service = service_fn(move |request| {
            let http = http.clone();
            async move { Ok(http.send(request).await?.map(erase)) }
        });
        Ok(Self {
            service: RequestService::new(service),
            default_namespace: config.default_namespace.clone(),
            valid_until: None,
        })
    }

    /// The namespace of clients whose requests do not name one.
    pub fn default_namespace(&self) -> &str {
        &self.default_namespace
    }

    /// Sets the namespace of clients whose requests do not name one.
    #[must_use]
    pub fn with_default_namespace(self, namespace: impl Into<String>) -> Self {
        Self {
            default_namespace: namespace.into(),
            ..self
        }
    }

    /// Adds a layer that all clients of this transport, and of its clones, share.
    #[must_use]
    pub fn layer<L, B>(self, layer: L) -> Self
    where
        L: Layer<RequestService>,
        L::Service: Service<Request<Body>, Response = Response<B>, Error: Into<BoxError>>,
        L::Service: Clone + Send + Sync + 'static,
        <L::Service as Service<Request<Body>>>::Future: Send + 'static,
        B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
    {
        let service = ServiceBuilder::new()
            .map_response(|response: Response<B>| response.map(erase))
            .map_err(Into::into)
            .service(layer.layer(self.service));
        Self {
            service: RequestService::new(service),
            ..self
        }
    }

    /// A client without further layers.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime, as kube's client does: it runs a task.
    pub fn client(self) -> Client {
        self.client_with(Identity::new())
    }

    /// A client whose requests pass `layer`, which can be a stack of layers
    /// ([`ServiceBuilder::into_inner`]).
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime, as kube's client does: it runs a task.
    pub fn client_with<L, B>(self, layer: L) -> Client
    where
        L: Layer<RequestService>,
        L::Service: Service<Request<Body>, Response = Response<B>, Error: Into<BoxError>>,
        L::Service: Send + 'static,
        <L::Service as Service<Request<Body>>>::Future: Send + 'static,
        B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
    {
        let service = layer.layer(self.service);
        Client::new(service, self.default_namespace).with_valid_until(self.valid_until)
    }
}

/// The client is the innermost service: requests pass its own layers last.
impl From<Client> for Transport {
    fn from(client: Client) -> Self {
        Self {
            default_namespace: client.default_namespace().to_owned(),
            valid_until: *client.valid_until(),
            service: RequestService::new(service_fn(move |request| {
                let client = client.clone();
                async move { Ok(client.send(request).await?.map(erase)) }
            })),
        }
    }
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transport")
            .field("default_namespace", &self.default_namespace)
            .finish_non_exhaustive()
    }
}

fn erase<B>(body: B) -> ResponseBody
where
    B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    body.map_err(Into::into).boxed_unsync()
}

/// A client like `client` whose requests pass `layer` first: a [`RequestFilter`] or any layer of
/// tower, of tower-http, or of your own.
///
/// For several layers pass a stack ([`Transport`] shows how) instead of wrapping the client several
/// times: each kube client has a buffer of its own.
///
/// [`RequestFilter`]: crate::client::RequestFilter
///
/// ```
/// use http::{HeaderValue, Request};
/// use kube::client::Body;
/// use kubewright_runtime::client::with_layer;
/// use tower::util::MapRequestLayer;
///
/// # fn with(client: kube::Client) {
/// let traced = with_layer(&client, MapRequestLayer::new(|mut request: Request<Body>| {
///     let id = HeaderValue::from_static("4bf92f3577b34da6");
///     request.headers_mut().insert("x-trace-id", id);
///     request
/// }));
/// # }
/// ```
///
/// # Panics
///
/// Outside a tokio runtime, as kube's client does: it runs a task.
pub fn with_layer<L, B>(client: &Client, layer: L) -> Client
where
    L: Layer<RequestService>,
    L::Service: Service<Request<Body>, Response = Response<B>, Error: Into<BoxError>>,
    L::Service: Send + 'static,
    <L::Service as Service<Request<Body>>>::Future: Send + 'static,
    B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    Transport::from(client.clone()).client_with(layer)
}
