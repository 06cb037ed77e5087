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

/// Where controller-runtime and we serve a mutating webhook for Pods.
const PATH: &str = "/mutate--v1-pod?timeout=10s";

/// One connection to a webhook that stays open, HTTP/1.1 over TLS as the API server has it.
#[derive(Debug)]
pub(super) struct Connection {
    requests: SendRequest<Full<Bytes>>,
    host: String,
    /// Ends with the value.
    _driver: JoinSet<()>,
}

/// Trusts the authority of the webhooks' certificate alone.
pub(super) fn trust(authority_pem: &str) -> Result<TlsConnector, String> {
    let mut roots = RootCertStore::empty();
    let certificate = CertificateDer::from_pem_slice(authority_pem.as_bytes());
    let certificate = certificate.map_err(|error| error.to_string())?;
    roots.add(certificate).map_err(|error| error.to_string())?;
    let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

impl Connection {
    /// Connects to a webhook on loopback.
    ///
    /// # Cancel safety
    ///
    /// Dropped, there is no connection.
    pub(super) async fn open(connector: &TlsConnector, port: u16) -> Result<Self, String> {
        let said = |error: std::io::Error| error.to_string();
        let stream = TcpStream::connect(("127.0.0.1", port)).await;
        let stream = stream.map_err(said)?;
        stream.set_nodelay(true).map_err(said)?;
        let name = ServerName::try_from("localhost").map_err(|error| error.to_string())?;
        let stream = connector.connect(name, stream).await.map_err(said)?;
        let (requests, connection) = handshake(TokioIo::new(stream))
            .await
            .map_err(|error| error.to_string())?;
        let mut driver = JoinSet::new();
        // Whoever asks hears of a broken connection.
        driver.spawn(async move { connection.await.unwrap_or_default() });
        Ok(Self {
            requests,
            host: format!("localhost:{port}"),
            _driver: driver,
        })
    }

    /// Sends one review and waits for the whole answer.
    ///
    /// # Cancel safety
    ///
    /// Dropped, the connection cannot be used any more.
    pub(super) async fn ask(&mut self, review: Bytes) -> Result<Bytes, String> {
        let request = Request::post(PATH)
            .header(HOST, &self.host)
            .header(CONTENT_TYPE, "application/json")
            .body(Full::new(review))
            .map_err(|error| error.to_string())?;
        let ready = self.requests.ready().await;
        ready.map_err(|error| error.to_string())?;
        let response = self.requests.send_request(request).await;
        let response = response.map_err(|error| error.to_string())?;
        if response.status() != StatusCode::OK {
            return Err(format!("it answered {}", response.status()));
        }
        let body = response.into_body().collect().await;
        body.map(|body| body.to_bytes())
            .map_err(|error| error.to_string())
    }
}
