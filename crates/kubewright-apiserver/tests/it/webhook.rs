//! A webhook server in this process.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming as HyperBody;
use hyper::service::service_fn;
use kubewright_apiserver::Server;
use kubewright_http::pki::{Authority, KeyPairPem};
use kubewright_http::{Http, Incoming, Limits, Serving, pipe, serve};
use rustls::ServerConfig;
use rustls::crypto::ring::default_provider;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

const HOST: &str = "hook.default.svc";
const TIMEOUT: Duration = Duration::from_secs(10);

/// The `response` of a review, without its `uid`.
type Respond = Arc<dyn Fn() -> BoxFuture<'static, Value> + Send + Sync>;

/// An admission webhook of one server, until it is dropped.
pub(crate) struct Webhook {
    client_config: Value,
    _tasks: JoinSet<()>,
}

impl Webhook {
    /// Serves a webhook that responds to each review with `respond`.
    pub(crate) fn start(
        server: &Server,
        respond: impl Fn() -> BoxFuture<'static, Value> + Send + Sync + 'static,
    ) -> Self {
        let now = "2026-01-01T00:00:00Z".parse().unwrap();
        let authority = Authority::valid_from("hook", now, 30).unwrap();
        let identity = authority.issue_server(&[HOST]).unwrap();
        let (connector, listener) = pipe();
        server.webhooks().register(
            HOST,
            Arc::new(move || {
                let connector = connector.clone();
                Box::pin(async move { connector.connect().await })
            }),
        );
        let respond: Respond = Arc::new(respond);
        let mut tasks = JoinSet::new();
        tasks.spawn(serve(
            Serving {
                incoming: Incoming::Pipe(listener),
                http: Http {
                    tls: Some(acceptor(&identity)),
                    header_timeout: TIMEOUT,
                    header_bytes: 64 * 1024,
                    drain: TIMEOUT,
                },
                limits: Limits::of_process(64),
                overload_response: None,
                shutdown_delay: Duration::ZERO,
                stop: CancellationToken::new(),
            },
            move |_| {
                let respond = Arc::clone(&respond);
                service_fn(move |request| reviewed(request, Arc::clone(&respond)))
            },
        ));
        Self {
            client_config: json!({
                "service": {"namespace": "default", "name": "hook"},
                "caBundle": STANDARD.encode(authority.certificate_pem()),
            }),
            _tasks: tasks,
        }
    }

    /// A configuration that calls this webhook for new ConfigMaps.
    pub(crate) fn configuration(&self) -> Value {
        json!({"metadata": {"name": "hook"}, "webhooks": [{
            "name": "hook.example.com",
            "clientConfig": self.client_config,
            "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"],
                "resources": ["configmaps"]}],
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
        }]})
    }
}

async fn reviewed(
    request: Request<HyperBody>,
    respond: Respond,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let body = request.into_body().collect().await.unwrap().to_bytes();
    let mut review: Value = serde_json::from_slice(&body).unwrap();
    let uid = review["request"]["uid"].take();
    let mut response = respond().await;
    response["uid"] = uid;
    let review = json!({"apiVersion": review["apiVersion"], "kind": review["kind"],
        "response": response});
    Ok(Response::new(review.to_string().into()))
}

fn acceptor(identity: &KeyPairPem) -> TlsAcceptor {
    let certificate = CertificateDer::from_pem_slice(identity.certificate_pem.as_bytes()).unwrap();
    let key = PrivateKeyDer::from_pem_slice(identity.key_pem.as_bytes()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    TlsAcceptor::from(Arc::new(config))
}
