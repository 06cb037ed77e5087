//! Client connections to a webhook.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HOST};
use http::{Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, ServerName};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// The path of a mutating webhook for Pods, the same in controller-runtime and kubewright.
const PATH: &str = "/mutate--v1-pod?timeout=10s";

/// A persistent connection to a webhook: HTTP/1.1 over TLS, as the API server uses.
#[derive(Debug)]
pub(super) struct Connection {
    requests: SendRequest<Full<Bytes>>,
    host: String,
    /// The connection's task. It ends when the set is dropped.
    _driver: JoinSet<()>,
}

/// Returns a connector that trusts only the given certificate authority.
pub(super) fn tls_connector(authority_pem: &str) -> Result<TlsConnector, String> {
    let mut roots = RootCertStore::empty();
    let certificate = CertificateDer::from_pem_slice(authority_pem.as_bytes())
        .map_err(|error| error.to_string())?;
    roots.add(certificate).map_err(|error| error.to_string())?;
    let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

impl Connection {
    /// Connects to a webhook on the loopback interface.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes the connection.
    pub(super) async fn open(connector: &TlsConnector, port: u16) -> Result<Self, String> {
        let message = |error: std::io::Error| error.to_string();
        let tcp = TcpStream::connect(("127.0.0.1", port))
            .await
            .map_err(message)?;
        tcp.set_nodelay(true).map_err(message)?;
        let name = ServerName::try_from("localhost").map_err(|error| error.to_string())?;
        let tls = connector.connect(name, tcp).await.map_err(message)?;
        let (requests, connection) = handshake(TokioIo::new(tls))
            .await
            .map_err(|error| error.to_string())?;
        let mut driver = JoinSet::new();
        // A failed connection is reported by the next request.
        driver.spawn(async move {
            connection.await.ok();
        });
        Ok(Self {
            requests,
            host: format!("localhost:{port}"),
            _driver: driver,
        })
    }

    /// Sends a review and reads the response.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the connection cannot be used again.
    pub(super) async fn send(&mut self, review: Bytes) -> Result<Bytes, String> {
        let request = Request::post(PATH)
            .header(HOST, &self.host)
            .header(CONTENT_TYPE, "application/json")
            .body(Full::new(review))
            .map_err(|error| error.to_string())?;
        self.requests
            .ready()
            .await
            .map_err(|error| error.to_string())?;
        let response = self
            .requests
            .send_request(request)
            .await
            .map_err(|error| error.to_string())?;
        if response.status() != StatusCode::OK {
            return Err(format!("the response has status {}", response.status()));
        }
        let body = response.into_body().collect().await;
        body.map(|body| body.to_bytes())
            .map_err(|error| error.to_string())
    }
}
