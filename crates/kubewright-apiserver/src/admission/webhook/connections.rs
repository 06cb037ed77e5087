use std::collections::BTreeMap;
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

use super::configuration::ClientConfig;
use super::connect::{Encrypted, connect};
use crate::server::Server;

/// How many connections to one place wait, and for how long (`idleConnsPerHost` of client-go's
/// transport, `IdleConnTimeout` of Go's).
const WAITING: usize = 25;
const PATIENCE: Duration = Duration::from_secs(90);
/// The most that an answer may have.
const ANSWER_LIMIT: usize = 16 * 1024 * 1024;

/// Connections to webhooks that wait for the next question.
///
/// Nobody reads from them meanwhile, so that none needs a task: one that its webhook has closed is
/// noticed when it is used again, before anything is sent.
#[derive(Default)]
pub(crate) struct Connections {
    waiting: Mutex<BTreeMap<Destination, Vec<Waiting>>>,
}

struct Waiting {
    connection: Connection,
    since: Instant,
}

/// Where a connection leads to, and who vouches for that.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Destination {
    authority: String,
    ca_bundle: Option<String>,
}

/// A connection that takes one question after another.
struct Connection {
    sender: SendRequest<Full<Bytes>>,
    driver: http1::Connection<TokioIo<Encrypted>, Full<Bytes>>,
}

/// An answer, whatever it says.
pub(super) struct Answer {
    pub(super) code: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

/// Why there is no answer.
enum Unanswered {
    /// The connection was closed before the question; another may take it.
    Unsent(String),
    /// The question may have been read.
    Sent(String),
}

impl Connections {
    /// Sends a request over a connection that waits, or else over a new one, which waits afterwards.
    pub(super) async fn send(
        &self,
        (server, client, uri): (&Server, &ClientConfig, &Uri),
        request: impl Fn() -> Result<Request<Full<Bytes>>, http::Error>,
    ) -> Result<Answer, String> {
        let to = Destination {
            authority: uri.authority().map(ToString::to_string).unwrap_or_default(),
            ca_bundle: client.ca_bundle.clone(),
        };
        loop {
            let kept = self.take(&to);
            let is_new = kept.is_none();
            let mut connection = match kept {
                Some(connection) => connection,
                None => Connection::over(connect(server, client, uri).await?).await?,
            };
            let request = request().map_err(|error| error.to_string())?;
            match connection.exchange(request).await {
                Ok(answer) => {
                    self.keep(to, connection);
                    return Ok(answer);
                }
                Err(Unanswered::Unsent(_)) if !is_new => {}
                Err(Unanswered::Unsent(why) | Unanswered::Sent(why)) => return Err(why),
            }
        }
    }

    fn take(&self, to: &Destination) -> Option<Connection> {
        let mut waiting = self.waiting.lock();
        let newest = waiting.get_mut(to)?.pop()?;
        (newest.since.elapsed() < PATIENCE).then_some(newest.connection)
    }

    fn keep(&self, to: Destination, connection: Connection) {
        let since = Instant::now();
        let mut waiting = self.waiting.lock();
        waiting.retain(|_, those| {
            those.retain(|one| one.since.elapsed() < PATIENCE);
            !those.is_empty()
        });
        let those = waiting.entry(to).or_default();
        if those.len() < WAITING {
            those.push(Waiting { connection, since });
        }
    }
}

impl Connection {
    async fn over(stream: Encrypted) -> Result<Self, String> {
        let stream = TokioIo::new(stream);
        let (sender, driver) = http1::handshake(stream)
            .await
            .map_err(|error| text(&error))?;
        Ok(Self { sender, driver })
    }

    async fn exchange(&mut self, request: Request<Full<Bytes>>) -> Result<Answer, Unanswered> {
        let sender = &mut self.sender;
        let exchange = async {
            let unsent = |error: hyper::Error| Unanswered::Unsent(text(&error));
            sender.ready().await.map_err(unsent)?;
            let response = sender.try_send_request(request).await;
            let response = response.map_err(|mut failed| match failed.take_message() {
                Some(_) => Unanswered::Unsent(text(failed.error())),
                None => Unanswered::Sent(text(failed.error())),
            })?;
            let (parts, body) = response.into_parts();
            let body = Limited::new(body, ANSWER_LIMIT).collect().await;
            let body = body.map_err(|error| Unanswered::Sent(error.to_string()))?;
            Ok(Answer {
                code: parts.status,
                headers: parts.headers,
                body: body.to_bytes(),
            })
        };
        match select(pin!(exchange), &mut self.driver).await {
            Either::Left((answered, _)) => answered,
            // What the connection brought before it ended is there at once.
            Either::Right((_, exchange)) => exchange
                .now_or_never()
                .unwrap_or_else(|| Err(Unanswered::Unsent("EOF".to_owned()))),
        }
    }
}

fn text(error: &hyper::Error) -> String {
    match error.is_incomplete_message() {
        true => "EOF".to_owned(),
        false => error.to_string(),
    }
}
