//! TLS connections to webhooks.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::Uri;
use kubewright_core::Clock;
use kubewright_http::{BundleVerifier, Stream};
use rustls::crypto::ring::default_provider;
use rustls::time_provider::TimeProvider;
use rustls::{CertificateError, ClientConfig as TlsConfig};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};
use tokio::net::{TcpStream, lookup_host};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::config::{ClientConfig, WebhookTarget};
use super::endpoints::WebhookEndpoints;
use super::service::{Endpoint, ServiceReference, endpoints};
use crate::store::Store;

/// A connection after TLS.
pub(super) type Encrypted = TlsStream<Box<dyn Stream>>;

/// Opens connections to webhooks.
#[derive(Debug)]
pub(super) struct Dialer {
    /// Has the Services and their endpoints.
    pub(super) store: Store,
    /// The time for the verification of certificates.
    pub(super) clock: Clock,
    /// Webhook servers of this process.
    pub(super) registered: WebhookEndpoints,
}

impl Dialer {
    /// Connects to a webhook and verifies its certificate. Error messages are those of Go.
    pub(super) async fn connect(
        &self,
        client: &ClientConfig,
        uri: &Uri,
    ) -> Result<Encrypted, String> {
        let host = uri.host().unwrap_or_default();
        let stream = match &client.target {
            WebhookTarget::Service {
                namespace,
                name,
                port,
                ..
            } => match self.registered(host).await {
                Some(stream) => stream?,
                None => self.service(namespace, name, *port).await?,
            },
            WebhookTarget::Url(_) => match self.registered(host).await {
                Some(stream) => stream?,
                None => tcp(host, uri.port_u16().unwrap_or(443)).await?,
            },
        };
        let connector = TlsConnector::from(tls(&self.clock, client)?);
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let name = ServerName::try_from(host.to_owned()).map_err(|error| error.to_string())?;
        connector
            .connect(name, stream)
            .await
            .map_err(|error| tls_error(&error))
    }

    /// Connects to the first endpoint of a Service that accepts the connection.
    async fn service(
        &self,
        namespace: &str,
        name: &str,
        port: u64,
    ) -> Result<Box<dyn Stream>, String> {
        let mut last = format!("no endpoints available for service {name:?}");
        let service = ServiceReference { namespace, name };
        for Endpoint { host, port } in endpoints(&self.store, service, port)? {
            match tcp(&host, port).await {
                Ok(stream) => return Ok(stream),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// Connects to the first webhook server of this process that is registered for a host and
    /// accepts; none when no server is registered for it.
    async fn registered(&self, host: &str) -> Option<Result<Box<dyn Stream>, String>> {
        let mut last = None;
        for connector in self.registered.find(host) {
            match connector().await {
                Ok(stream) => return Some(Ok(Box::new(stream))),
                Err(error) => last = Some(Err(format!("dial pipe: {}", io_error(&error)))),
            }
        }
        last
    }
}

async fn tcp(host: &str, port: u16) -> Result<Box<dyn Stream>, String> {
    let plain = host.trim_start_matches('[').trim_end_matches(']');
    let addresses: Vec<SocketAddr> = match lookup_host((plain, port)).await {
        Ok(addresses) => addresses.collect(),
        Err(_) => return Err(format!("dial tcp: lookup {host}: no such host")),
    };
    let mut last = format!("dial tcp: lookup {host}: no such host");
    for address in addresses {
        match TcpStream::connect(address).await {
            Ok(stream) => {
                if let Err(error) = stream.set_nodelay(true) {
                    tracing::debug!(%error, "set TCP_NODELAY");
                }
                return Ok(Box::new(stream));
            }
            Err(error) => last = format!("dial tcp {address}: {}", io_error(&error)),
        }
    }
    Err(last)
}

fn tls(clock: &Clock, client: &ClientConfig) -> Result<Arc<TlsConfig>, String> {
    let bundle = client.ca_bundle.as_deref().unwrap_or_default();
    let pem = STANDARD.decode(bundle).map_err(|error| error.to_string())?;
    let certificates = CertificateDer::pem_slice_iter(&pem)
        .collect::<Result<_, _>>()
        .map_err(|_| UNLOADABLE.to_owned())?;
    let verifier = BundleVerifier::new(certificates).map_err(|_| UNLOADABLE.to_owned())?;
    // The clock of the server can differ from that of the machine.
    let time = Arc::new(ServerTime(clock.clone()));
    let config = TlsConfig::builder_with_details(Arc::new(default_provider()), time)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    Ok(Arc::new(config))
}

#[derive(Debug)]
struct ServerTime(Clock);

impl TimeProvider for ServerTime {
    fn current_time(&self) -> Option<UnixTime> {
        let seconds = u64::try_from(self.0.now().as_second()).ok()?;
        Some(UnixTime::since_unix_epoch(Duration::from_secs(seconds)))
    }
}

const UNLOADABLE: &str = "unable to load root certificates: unable to parse bytes as PEM block";

fn io_error(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "connect: connection refused".to_owned(),
        io::ErrorKind::TimedOut => "i/o timeout".to_owned(),
        io::ErrorKind::ConnectionReset => "read: connection reset by peer".to_owned(),
        _ => error.to_string(),
    }
}

/// The message of Go's `crypto/tls` for an error of rustls.
fn tls_error(error: &io::Error) -> String {
    let tls = error.get_ref().and_then(|inner| inner.downcast_ref());
    let why = match tls {
        Some(rustls::Error::InvalidCertificate(why)) => why,
        Some(other) => return format!("tls: {other}"),
        None if error.kind() == io::ErrorKind::UnexpectedEof => return "EOF".to_owned(),
        None => return io_error(error),
    };
    let detail = match why {
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            "x509: certificate signed by unknown authority".to_owned()
        }
        CertificateError::Expired
        | CertificateError::ExpiredContext { .. }
        | CertificateError::NotValidYet
        | CertificateError::NotValidYetContext { .. } => {
            "x509: certificate has expired or is not yet valid".to_owned()
        }
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            "x509: certificate specifies an incompatible key usage".to_owned()
        }
        CertificateError::NotValidForName => "x509: certificate is not valid for name".to_owned(),
        CertificateError::NotValidForNameContext {
            expected,
            presented,
        } => not_valid_for(&expected.to_str(), presented),
        other => format!("x509: {other:?}"),
    };
    format!("tls: failed to verify certificate: {detail}")
}

fn not_valid_for(expected: &str, presented: &[String]) -> String {
    let names: Vec<&str> = presented
        .iter()
        .map(|name| {
            let inner = name
                .split_once('(')
                .map_or(name.as_str(), |(_, inner)| inner);
            inner.trim_end_matches(')').trim_matches('"')
        })
        .collect();
    if names.is_empty() {
        return "x509: certificate is not valid for any names".to_owned();
    }
    format!(
        "x509: certificate is valid for {}, not {expected}",
        names.join(", ")
    )
}
