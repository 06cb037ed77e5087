//! A server on a socket, and clients with certificates.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Version};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use kubewright_apiserver::{Server, ServingIdentity};
use kubewright_http::pki::{Authority, KeyPairPem, Subject, Usage};
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use serde_json::Value;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_util::sync::CancellationToken;

/// A server on a socket, and the authority that its clients are known by.
pub(crate) struct Socket {
    pub(crate) address: SocketAddr,
    authority: Authority,
    cancel: CancellationToken,
    tasks: JoinSet<()>,
}

impl Socket {
    pub(crate) async fn open(server: &Server) -> Self {
        let authority = Authority::new("ca").unwrap();
        let serving = authority
            .issue(&Subject {
                common_name: "kube-apiserver".to_owned(),
                usage: Usage::Server,
                names: vec!["localhost".to_owned(), "127.0.0.1".to_owned()],
                ..Subject::default()
            })
            .unwrap();
        let identity = ServingIdentity {
            certificate_pem: serving.certificate_pem,
            key_pem: serving.key_pem,
            client_authority_pem: authority.certificate_pem(),
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let cancel = CancellationToken::new();
        let mut tasks = JoinSet::new();
        let (server, stop) = (server.clone(), cancel.clone());
        tasks.spawn(async move { server.serve(listener, identity, stop).await.unwrap() });
        Self {
            address,
            authority,
            cancel,
            tasks,
        }
    }

    pub(crate) async fn connect(
        &self,
        client: Option<KeyPairPem>,
        protocols: &[&str],
    ) -> std::io::Result<TlsStream<TcpStream>> {
        let mut roots = RootCertStore::empty();
        let authority = self.authority.certificate_pem();
        roots
            .add(CertificateDer::from_pem_slice(authority.as_bytes()).unwrap())
            .unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots);
        let mut config = match client {
            None => config.with_no_client_auth(),
            Some(client) => {
                let chain = vec![
                    CertificateDer::from_pem_slice(client.certificate_pem.as_bytes()).unwrap(),
                ];
                let key = PrivateKeyDer::from_pem_slice(client.key_pem.as_bytes()).unwrap();
                config.with_client_auth_cert(chain, key).unwrap()
            }
        };
        config.alpn_protocols = protocols
            .iter()
            .map(|name| name.as_bytes().to_vec())
            .collect();
        let stream = TcpStream::connect(self.address).await?;
        let name = ServerName::try_from("localhost").unwrap();
        TlsConnector::from(Arc::new(config))
            .connect(name, stream)
            .await
    }

    /// The status and body of one request over a connection of its own.
    pub(crate) async fn call(
        &self,
        client: Option<KeyPairPem>,
        request: Request<Full<Bytes>>,
    ) -> (u16, Value) {
        let stream = self.connect(client, &["http/1.1"]).await.unwrap();
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
        let response = async {
            let response = sender.send_request(request).await.unwrap();
            assert_eq!(response.version(), Version::HTTP_11);
            let code = response.status().as_u16();
            let bytes = response.into_body().collect().await.unwrap().to_bytes();
            (code, serde_json::from_slice(&bytes).unwrap_or_default())
        };
        tokio::select! {
            response = response => response,
            ended = connection => unreachable!("the connection ended first: {ended:?}"),
        }
    }

    pub(crate) fn client(&self, name: &str, groups: &[&str]) -> KeyPairPem {
        let subject = Subject {
            common_name: name.to_owned(),
            organizations: groups.iter().map(|&group| group.to_owned()).collect(),
            usage: Usage::Client,
            ..Subject::default()
        };
        self.authority.issue(&subject).unwrap()
    }

    pub(crate) async fn close(mut self) {
        self.cancel.cancel();
        while let Some(ended) = self.tasks.join_next().await {
            ended.unwrap();
        }
    }
}

pub(crate) fn get(path: &str) -> Request<Full<Bytes>> {
    Request::get(path)
        .header("host", "localhost")
        .body(Full::default())
        .unwrap()
}
