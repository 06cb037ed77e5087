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
use crate::client::credentials::Identity;
use crate::client::fault::Fault;

/// How often a connection without traffic is tried, as client-go has it.
const KEEPALIVE: Duration = Duration::from_secs(30);

/// Connections to one API server as one client; clones share them.
pub(super) type Pool = Client<TimeoutConnector<HttpsConnector<HttpConnector>>, Body>;

/// How connections are made.
pub(super) struct Dialer {
    provider: Arc<CryptoProvider>,
    verifier: Arc<dyn ServerCertVerifier>,
    /// What the certificate of the server names, if not the host of its address.
    name: Option<ServerName<'static>>,
    limits: Limits,
}

/// How long what may take, as `Config` has it. Nothing limits how long a watch is quiet unless
/// the settings do.
struct Limits {
    connect: Option<Duration>,
    read: Option<Duration>,
    write: Option<Duration>,
    reset_reader_on_write: bool,
}

impl Dialer {
    pub(super) fn new(config: &Config) -> Result<Self, Fault> {
        let name = config.tls_server_name.clone().map(ServerName::try_from);
        let name = name.transpose().map_err(|_| Fault::ServerName)?;
        let provider = Arc::new(default_provider());
        Ok(Self {
            verifier: verifier(config, &provider)?,
            provider,
            name,
            limits: Limits {
                connect: config.connect_timeout,
                read: config.read_timeout,
                write: config.write_timeout,
                reset_reader_on_write: config.reset_reader_on_write,
            },
        })
    }

    /// New connections, which none other shares: TLS would resume a session as who it was of.
    pub(super) fn pool(&self, identity: Option<&Identity>) -> Result<Pool, Fault> {
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
        connector.set_connect_timeout(self.limits.connect);
        connector.set_read_timeout(self.limits.read);
        connector.set_write_timeout(self.limits.write);
        connector.set_reset_reader_on_write(self.limits.reset_reader_on_write);
        Ok(Builder::new(TokioExecutor::new()).build(connector))
    }

    fn tls(&self, identity: Option<&Identity>) -> Result<ClientConfig, Fault> {
        let failed = |what| move |source| Fault::Tls { what, source };
        let builder = ClientConfig::builder_with_provider(Arc::clone(&self.provider))
            .with_safe_default_protocol_versions()
            .map_err(failed("the cryptography of this program"))?
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
