//! The client side of TLS connections in tests.

use std::sync::Arc;

use kubewright::webhook::pki::Authority;
use rustls::crypto::ring::default_provider;
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// Connects to `localhost`, and trusts `authority` alone.
pub(crate) async fn connect<S: AsyncRead + AsyncWrite + Unpin>(
    stream: S,
    authority: &Authority,
) -> TlsStream<S> {
    connect_with(stream, authority, &[]).await
}

/// Connects with one of these protocols, in order of preference.
pub(crate) async fn connect_with<S: AsyncRead + AsyncWrite + Unpin>(
    stream: S,
    authority: &Authority,
    protocols: &[&str],
) -> TlsStream<S> {
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
    let connector = TlsConnector::from(Arc::new(config));
    connector.connect(name, stream).await.expect("a handshake")
}
