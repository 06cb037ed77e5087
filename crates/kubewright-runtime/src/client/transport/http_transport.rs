//! Requests over HTTP, with the credentials of the configuration.

use std::sync::Arc;

use http::header::{AUTHORIZATION, USER_AGENT};
use http::{HeaderName, HeaderValue, Request, Response, StatusCode};
use hyper::body::Incoming;
use kube::Config;
use kube::client::Body;
use kubewright_core::Clock;
use parking_lot::Mutex;
use tower::BoxError;

use super::address::Address;
use super::dialer::{Dialer, Pool};
use super::headers::headers;
use crate::client::Blocked;
use crate::client::connect_error::ConnectError;
use crate::client::credentials::{Credentials, Identity, is_same_identity};
use crate::client::proxy::ProxyEnvironment;

/// Sends requests to the API server of a configuration, as its user. Clones share the connections.
#[derive(Clone)]
pub(super) struct HttpTransport(Arc<Inner>);

struct Inner {
    address: Address,
    headers: Vec<(HeaderName, HeaderValue)>,
    credentials: Credentials,
    dialer: Dialer,
    connections: Mutex<Connections>,
}

/// The open connections, and the client certificate that they were opened with.
struct Connections {
    identity: Option<Arc<Identity>>,
    pool: Pool,
}

impl HttpTransport {
    pub(super) fn new(
        config: &Config,
        user_agent: &str,
        clock: Clock,
    ) -> Result<Self, ConnectError> {
        check_proxy(config)?;
        let address = Address::new(&config.cluster_url)?;
        let credentials = Credentials::new(&config.auth_info, clock)?;
        let dialer = Dialer::new(config)?;
        let identity = credentials.own().cloned();
        let pool = dialer.pool(identity.as_deref())?;
        let mut headers = headers(config)?;
        if let Ok(value) = HeaderValue::from_str(user_agent) {
            headers.push((USER_AGENT, value));
        }
        Ok(Self(Arc::new(Inner {
            address,
            headers,
            credentials,
            dialer,
            connections: Mutex::new(Connections { identity, pool }),
        })))
    }

    /// Sends a request and returns the response when its head has arrived.
    ///
    /// # Cancel safety
    ///
    /// When dropped, the request is canceled; whether the server has processed it is not known.
    pub(super) async fn send(
        &self,
        mut request: Request<Body>,
    ) -> Result<Response<Incoming>, BoxError> {
        let Self(inner) = self;
        *request.uri_mut() = inner.address.of(request.uri()).map_err(Blocked::new)?;
        let grant = inner.credentials.current().await.map_err(Blocked::new)?;
        let pool = inner.pool(grant.identity.as_ref()).map_err(Blocked::new)?;
        for (name, value) in &inner.headers {
            request.headers_mut().append(name, value.clone());
        }
        if let Some(value) = &grant.header {
            request.headers_mut().insert(AUTHORIZATION, value.clone());
        }
        let response = pool.request(request).await?;
        if response.status() == StatusCode::UNAUTHORIZED {
            inner.credentials.reject(&grant);
        }
        Ok(response)
    }
}

/// Requests are sent to the API server directly: a proxy that applies to it is an error.
fn check_proxy(config: &Config) -> Result<(), ConnectError> {
    let environment = ProxyEnvironment::read();
    let Some(proxy) = environment.applying(config) else {
        return Ok(());
    };
    Err(match environment.variable(proxy) {
        Some(variable) => ConnectError::EnvironmentProxy { variable },
        None => ConnectError::KubeconfigProxy,
    })
}

impl Inner {
    /// The connections that were opened with this certificate. A server reads the certificate of a
    /// connection with each request, so connections of an earlier certificate are closed.
    fn pool(&self, identity: Option<&Arc<Identity>>) -> Result<Pool, ConnectError> {
        let mut connections = self.connections.lock();
        if !is_same_identity(connections.identity.as_ref(), identity) {
            connections.pool = self.dialer.pool(identity.map(Arc::as_ref))?;
            connections.identity = identity.cloned();
        }
        Ok(connections.pool.clone())
    }
}

#[cfg(test)]
mod tests {
    use kube::Config;
    use kubewright_core::Clock;
    use serde_json::json;

    use super::HttpTransport;

    #[tokio::test]
    async fn invalid_configuration_fails_with_its_cause() {
        let config = || Config::new("http://127.0.0.1:1".parse().unwrap());
        let mut proxied = config();
        proxied.proxy_url = Some("http://user:sesame@127.0.0.1:2".parse().unwrap());
        let mut unknown = config();
        unknown.tls_server_name = Some("not a name".to_owned());
        let mut trusting = config();
        trusting.root_cert_file = Some("/nowhere/ca.crt".into());
        let mut half = config();
        let user = json!({"client-certificate-data": "AAAA"});
        half.auth_info = serde_json::from_value(user).unwrap();
        let schemeless = Config::new("127.0.0.1:1".parse().unwrap());
        for (config, expected) in [
            (proxied, "proxy-url"),
            (unknown, "tls-server-name"),
            (trusting, "/nowhere/ca.crt"),
            (half, "the client key"),
            (schemeless, "https://"),
        ] {
            let error = HttpTransport::new(&config, "test", Clock::system())
                .err()
                .unwrap();
            assert!(error.to_string().contains(expected), "{error}");
            assert!(!format!("{error} {error:?}").contains("sesame"), "{error}");
        }
    }
}
