//! Idle connections to webhooks, which later calls reuse.

use std::collections::BTreeMap;
use std::fmt;
use std::pin::pin;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::{Either, FutureExt as _, select};
use http::{HeaderMap, Request, StatusCode, Uri};
use http_body_util::{BodyExt, Full, Limited};
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use tokio::time::Instant;

use super::config::ClientConfig;
use super::connect::{Dialer, Encrypted};

/// How many idle connections to one host are kept (`idleConnsPerHost` of client-go's transport).
const MAX_IDLE: usize = 25;
/// How long an idle connection is kept (`IdleConnTimeout` of Go's transport).
const IDLE_TIMEOUT: Duration = Duration::from_secs(90);
const MAX_RESPONSE_BYTES: usize = 16 * 1024 * 1024;

/// The idle connections.
///
/// No task reads from an idle connection. That the webhook has closed it is noticed when it is
/// reused, before anything is sent.
#[derive(Default)]
pub(super) struct Connections {
    idle: Mutex<BTreeMap<Destination, Vec<Idle>>>,
}

struct Idle {
    connection: Connection,
    since: Instant,
}

/// The host of a connection and the certificate authorities that it was verified with.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Destination {
    authority: String,
    ca_bundle: Option<String>,
}

/// A connection, for one request at a time.
struct Connection {
    sender: SendRequest<Full<Bytes>>,
    driver: http1::Connection<TokioIo<Encrypted>, Full<Bytes>>,
}

/// A response, whatever its status.
pub(super) struct WebhookResponse {
    pub(super) code: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

/// Why a request has no response.
enum ExchangeError {
    /// The connection was closed before the request was sent: another connection can be tried.
    NotSent(String),
    /// The webhook can have read the request: it is not sent again.
    Sent(String),
}

impl Connections {
    /// Sends a request over an idle connection, or else over a new one, which is idle afterwards.
    pub(super) async fn send(
        &self,
        dialer: &Dialer,
        client: &ClientConfig,
        uri: &Uri,
        request: impl Fn() -> Result<Request<Full<Bytes>>, http::Error>,
    ) -> Result<WebhookResponse, String> {
        let destination = Destination {
            authority: uri.authority().map(ToString::to_string).unwrap_or_default(),
            ca_bundle: client.ca_bundle.clone(),
        };
        loop {
            let idle = self.take(&destination);
            let is_new = idle.is_none();
            let mut connection = match idle {
                Some(connection) => connection,
                None => Connection::over(dialer.connect(client, uri).await?).await?,
            };
            let request = request().map_err(|error| error.to_string())?;
            match connection.exchange(request).await {
                Ok(response) => {
                    self.keep(destination, connection);
                    return Ok(response);
                }
                Err(ExchangeError::NotSent(_)) if !is_new => {}
                Err(ExchangeError::NotSent(why) | ExchangeError::Sent(why)) => return Err(why),
            }
        }
    }

    fn take(&self, destination: &Destination) -> Option<Connection> {
        let mut idle = self.idle.lock();
        let newest = idle.get_mut(destination)?.pop()?;
        (newest.since.elapsed() < IDLE_TIMEOUT).then_some(newest.connection)
    }

    fn keep(&self, destination: Destination, connection: Connection) {
        let since = Instant::now();
        let mut idle = self.idle.lock();
        idle.retain(|_, connections| {
            connections.retain(|connection| connection.since.elapsed() < IDLE_TIMEOUT);
            !connections.is_empty()
        });
        let connections = idle.entry(destination).or_default();
        if connections.len() < MAX_IDLE {
            connections.push(Idle { connection, since });
        }
    }
}

impl fmt::Debug for Connections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connections").finish_non_exhaustive()
    }
}

impl Connection {
    async fn over(stream: Encrypted) -> Result<Self, String> {
        let (sender, driver) = http1::handshake(TokioIo::new(stream))
            .await
            .map_err(|error| message(&error))?;
        Ok(Self { sender, driver })
    }

    async fn exchange(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> Result<WebhookResponse, ExchangeError> {
        let sender = &mut self.sender;
        let exchange = async {
            let not_sent = |error: hyper::Error| ExchangeError::NotSent(message(&error));
            sender.ready().await.map_err(not_sent)?;
            let sent = sender.try_send_request(request).await;
            let response = sent.map_err(|mut failed| match failed.take_message() {
                Some(_) => ExchangeError::NotSent(message(failed.error())),
                None => ExchangeError::Sent(message(failed.error())),
            })?;
            let (parts, body) = response.into_parts();
            let body = Limited::new(body, MAX_RESPONSE_BYTES)
                .collect()
                .await
                .map_err(|error| ExchangeError::Sent(error.to_string()))?;
            Ok(WebhookResponse {
                code: parts.status,
                headers: parts.headers,
                body: body.to_bytes(),
            })
        };
        match select(pin!(exchange), &mut self.driver).await {
            Either::Left((result, _)) => result,
            // What the connection delivered before it ended is available at once.
            Either::Right((_, exchange)) => exchange
                .now_or_never()
                .unwrap_or_else(|| Err(ExchangeError::NotSent("EOF".to_owned()))),
        }
    }
}

fn message(error: &hyper::Error) -> String {
    if error.is_incomplete_message() {
        return "EOF".to_owned();
    }
    error.to_string()
}
