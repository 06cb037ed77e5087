//! Connections: TCP, TLS and their timeouts.

use std::sync::Arc;
use std::time::Duration;

use hyper_rustls::{FixedServerNameResolver, HttpsConnector, HttpsConnectorBuilder};
use hyper_timeout::TimeoutConnector;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::{Builder, Client};
use hyper_util::rt::TokioExecutor;
use kube::Config;
use kube::client::Body;
use rustls::ClientConfig;
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::CryptoProvider;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::ServerName;

use super::trust::verifier;
use crate::client::connect_error::ConnectError;
use crate::client::credentials::Identity;

/// How often an idle connection is probed, as in client-go (transport/cache.go).
const KEEPALIVE: Duration = Duration::from_secs(30);

/// Connections to one API server with one client certificate. Clones share them.
pub(super) type Pool = Client<TimeoutConnector<HttpsConnector<HttpConnector>>, Body>;

/// Opens connections.
pub(super) struct Dialer {
    provider: Arc<CryptoProvider>,
    verifier: Arc<dyn ServerCertVerifier>,
    /// The name in the server's certificate, where it is not the host of the address.
    name: Option<ServerName<'static>>,
    timeouts: Timeouts,
}

/// The timeouts of a connection. A watch can be quiet for any time unless the configuration sets a
/// read timeout.
struct Timeouts {
    connect: Option<Duration>,
    read: Option<Duration>,
    write: Option<Duration>,
    reset_reader_on_write: bool,
}

impl Dialer {
    pub(super) fn new(config: &Config) -> Result<Self, ConnectError> {
        let name = config
            .tls_server_name
            .clone()
            .map(ServerName::try_from)
            .transpose()
            .map_err(|_| ConnectError::ServerName)?;
        let provider = Arc::new(default_provider());
        Ok(Self {
            verifier: verifier(config, &provider)?,
            provider,
            name,
            timeouts: Timeouts {
                connect: config.connect_timeout,
                read: config.read_timeout,
                write: config.write_timeout,
                reset_reader_on_write: config.reset_reader_on_write,
            },
        })
    }

    /// A new pool of connections with this client certificate. Pools share nothing: TLS would
    /// resume a session with the certificate that it was opened with.
    pub(super) fn pool(&self, identity: Option<&Identity>) -> Result<Pool, ConnectError> {
        let mut http = HttpConnector::new();
        http.enforce_http(false);
        http.set_nodelay(true);
        http.set_keepalive(Some(KEEPALIVE));
        let mut https = HttpsConnectorBuilder::new()
            .with_tls_config(self.tls(identity)?)
            .https_or_http();
        if let Some(name) = &self.name {
            https = https.with_server_name_resolver(FixedServerNameResolver::new(name.clone()));
        }
        let mut connector = TimeoutConnector::new(https.enable_http1().wrap_connector(http));
        connector.set_connect_timeout(self.timeouts.connect);
        connector.set_read_timeout(self.timeouts.read);
        connector.set_write_timeout(self.timeouts.write);
        connector.set_reset_reader_on_write(self.timeouts.reset_reader_on_write);
        Ok(Builder::new(TokioExecutor::new()).build(connector))
    }

    fn tls(&self, identity: Option<&Identity>) -> Result<ClientConfig, ConnectError> {
        let failed = |what| move |source| ConnectError::Tls { what, source };
        let builder = ClientConfig::builder_with_provider(Arc::clone(&self.provider))
            .with_safe_default_protocol_versions()
            .map_err(failed("the cryptography provider of this program"))?
            .dangerous()
            .with_custom_certificate_verifier(Arc::clone(&self.verifier));
        let Some(identity) = identity else {
            return Ok(builder.with_no_client_auth());
        };
        let (chain, key) = identity.to_parts();
        let with_identity = builder.with_client_auth_cert(chain, key);
        with_identity.map_err(failed("the client certificate"))
    }
}
