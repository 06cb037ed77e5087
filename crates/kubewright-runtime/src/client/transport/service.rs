use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::future::BoxFuture;
use http::header::AUTHORIZATION;
use http::{HeaderName, HeaderValue, Request, Response, StatusCode};
use hyper::body::Incoming;
use kube::Config;
use kube::client::Body;
use kubewright_core::Clock;
use parking_lot::Mutex;
use tower::{BoxError, Service};

use super::address::Address;
use super::dialer::{Dialer, Pool};
use super::headers::headers;
use crate::client::Blocked;
use crate::client::credentials::{Credentials, Identity, same};
use crate::client::fault::Fault;
use crate::client::proxy::ProxyEnvironment;

/// Sends requests to the API server of some settings, as the user of them.
pub(in crate::client) struct Transport(Arc<Line>);

struct Line {
    address: Address,
    headers: Vec<(HeaderName, HeaderValue)>,
    credentials: Credentials,
    dialer: Dialer,
    open: Mutex<Open>,
}

/// The connections in use, and as whom they were made.
struct Open {
    identity: Option<Arc<Identity>>,
    pool: Pool,
}

impl Transport {
    pub(in crate::client) fn new(config: &Config, clock: Clock) -> Result<Self, Fault> {
        check_proxy(config)?;
        let address = Address::new(&config.cluster_url)?;
        let credentials = Credentials::new(&config.auth_info, clock)?;
        let dialer = Dialer::new(config)?;
        let identity = credentials.own().cloned();
        let pool = dialer.pool(identity.as_deref())?;
        Ok(Self(Arc::new(Line {
            address,
            headers: headers(config)?,
            credentials,
            dialer,
            open: Mutex::new(Open { identity, pool }),
        })))
    }
}

/// Requests are sent to the API server directly: a proxy that applies to it is an error.
fn check_proxy(config: &Config) -> Result<(), Fault> {
    let environment = ProxyEnvironment::read();
    let Some(proxy) = environment.applying(config) else {
        return Ok(());
    };
    Err(match environment.variable(proxy) {
        Some(variable) => Fault::EnvironmentProxy { variable },
        None => Fault::KubeconfigProxy,
    })
}

impl Line {
    async fn send(&self, mut request: Request<Body>) -> Result<Response<Incoming>, BoxError> {
        *request.uri_mut() = self.address.of(request.uri()).map_err(Blocked::new)?;
        let grant = self.credentials.current().await.map_err(Blocked::new)?;
        let pool = self.pool(grant.identity.as_ref()).map_err(Blocked::new)?;
        for (name, value) in &self.headers {
            request.headers_mut().append(name, value.clone());
        }
        if let Some(value) = &grant.header {
            request.headers_mut().insert(AUTHORIZATION, value.clone());
        }
        let answer = pool.request(request).await?;
        if answer.status() == StatusCode::UNAUTHORIZED {
            self.credentials.refused(&grant);
        }
        Ok(answer)
    }

    /// A server looks at the certificate of a connection with each request: one that has ended
    /// takes its connections with it.
    fn pool(&self, identity: Option<&Arc<Identity>>) -> Result<Pool, Fault> {
        let mut open = self.open.lock();
        if !same(open.identity.as_ref(), identity) {
            open.pool = self.dialer.pool(identity.map(Arc::as_ref))?;
            open.identity = identity.cloned();
        }
        Ok(open.pool.clone())
    }
}

impl Service<Request<Body>> for Transport {
    type Response = Response<Incoming>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Response<Incoming>, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let line = Arc::clone(&self.0);
        Box::pin(async move { line.send(request).await })
    }
}

#[cfg(test)]
mod tests {
    use kube::Config;
    use kubewright_core::Clock;
    use serde_json::json;

    use super::Transport;

    #[tokio::test]
    async fn settings_that_make_no_client_say_why() {
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
            let fault = Transport::new(&config, Clock::system()).err().unwrap();
            assert!(fault.to_string().contains(expected), "{fault}");
            assert!(!format!("{fault} {fault:?}").contains("sesame"), "{fault}");
        }
    }
}
