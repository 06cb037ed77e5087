//! An HTTP client over the pipe of a server, with TLS.

use std::sync::Arc;

use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use kubewright_webhook::PipeConnector;
use kubewright_webhook::pki::Authority;
use rustls::crypto::ring::default_provider;
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName};
use tokio::io::DuplexStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// Connects with one of `protocols`, trusting only `authority`; an error is a failed handshake.
pub(crate) async fn connect(
    connector: &PipeConnector,
    authority: &Authority,
    protocols: &[&str],
) -> std::io::Result<TlsStream<DuplexStream>> {
    let mut roots = RootCertStore::empty();
    let pem = authority.certificate_pem();
    let certificate = CertificateDer::from_pem_slice(pem.as_bytes()).expect("a certificate");
    roots.add(certificate).expect("an authority");
    let mut config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = protocols
        .iter()
        .map(|name| name.as_bytes().to_vec())
        .collect();
    let name = ServerName::try_from("localhost").expect("a name");
    let stream = connector.connect().await?;
    TlsConnector::from(Arc::new(config))
        .connect(name, stream)
        .await
}

/// Posts one body over a new connection; an error is a failed handshake.
pub(crate) async fn post(
    connector: &PipeConnector,
    authority: &Authority,
    path: &str,
    body: impl Into<Bytes>,
) -> std::io::Result<(StatusCode, Bytes)> {
    post_as(connector, authority, path, "application/json", body).await
}

/// Posts one body of a content type over a new connection; an error is a failed handshake.
pub(crate) async fn post_as(
    connector: &PipeConnector,
    authority: &Authority,
    path: &str,
    content_type: &str,
    body: impl Into<Bytes>,
) -> std::io::Result<(StatusCode, Bytes)> {
    let stream = connect(connector, authority, &[]).await?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.expect("HTTP");
    let request = Request::post(path)
        .header("host", "localhost")
        .header("content-type", content_type)
        .body(Full::new(body.into()))
        .expect("a request");
    let exchange = async move {
        let response = sender.send_request(request).await.expect("a response");
        let status = response.status();
        let body = response.into_body().collect().await.expect("a body");
        (status, body.to_bytes())
    };
    let (response, _) = futures_util::future::join(exchange, connection).await;
    Ok(response)
}
