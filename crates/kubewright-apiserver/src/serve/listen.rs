//! The server on a listener.

use std::convert::Infallible;
use std::time::Duration;

use http::{Request, Response, StatusCode};
use hyper::body::Incoming as HyperBody;
use hyper::service::service_fn;
use kubewright_http::{Activity, Http, Incoming, Limits, Peer, Serving, WorkingBody, serve};
use kubewright_wire::status::Status;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tower::Service as _;

use super::{Error, ServingIdentity};
use crate::request::{ServerBody, failure_response};
use crate::server::Server;
use crate::who::{Credentials, user_of_certificate};

/// How long a client may take for the handshake, and for the headers of a request.
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);
/// The most that the headers of a request may take, in bytes.
const HEADER_BYTES: u32 = 64 * 1024;
/// How long requests under way may take once the server stops. Watches end at once.
const DRAIN: Duration = Duration::from_millis(1500);
/// How many connections may be open whose clients have not authenticated.
const UNAUTHENTICATED: usize = 1024;
/// When a client may try again for which there is no room.
const RETRY_SECONDS: u32 = 1;

type Body = WorkingBody<ServerBody>;

impl Server {
    /// Serves requests on a socket, over TLS, until it is cancelled.
    ///
    /// Users are known by client certificates that the identity's authority signed, or by the
    /// tokens of ServiceAccounts; a request with neither fails with 401. No failure of a single
    /// connection ends this: the only errors are those of an identity that cannot be used.
    ///
    /// As many connections may be open as the process has descriptors for. A client for which there
    /// is no room makes the server close the connection that has been idle longest, one without
    /// authentication first; only when all of them have requests under way it receives 429. Once
    /// cancelled, watches end, and other requests under way have a second and a half.
    ///
    /// # Cancel safety
    ///
    /// Dropping this closes every connection at once; each write has then happened whole or not
    /// at all.
    pub async fn serve(
        &self,
        listener: TcpListener,
        identity: ServingIdentity,
        cancel: CancellationToken,
    ) -> Result<(), Error> {
        let serving = Serving {
            incoming: Incoming::Socket(listener),
            http: Http {
                tls: Some(TlsAcceptor::from(identity.tls()?)),
                header_timeout: HEADER_TIMEOUT,
                header_bytes: HEADER_BYTES,
                drain: DRAIN,
            },
            limits: Limits::of_process(UNAUTHENTICATED),
            refusal: Some(no_room),
            farewell: Duration::ZERO,
            stop: cancel.clone(),
        };
        let server = self.clone();
        serve(serving, move |peer: Peer| {
            let certificate = peer.certificate.as_ref();
            let user = certificate.and_then(|certificate| user_of_certificate(certificate));
            if user.is_some() {
                peer.activity.prove();
            }
            let credentials = user.map_or(Credentials::Anonymous, Credentials::Certificate);
            let service = server.service_for(credentials);
            let (activity, cancel) = (peer.activity, cancel.clone());
            service_fn(move |request: Request<HyperBody>| {
                let response = service.clone().call(request);
                respond(response, activity.clone(), cancel.clone())
            })
        })
        .await;
        Ok(())
    }
}

/// Waits for a response. Until its body is sent, the connection is not closed for another; a client
/// that has authenticated is known.
async fn respond(
    response: impl Future<Output = Result<Response<ServerBody>, Infallible>>,
    activity: Activity,
    stop: CancellationToken,
) -> Result<Response<Body>, Infallible> {
    let working = activity.begin();
    let Ok(response) = response.await;
    if response.status() != StatusCode::UNAUTHORIZED {
        activity.prove();
    }
    Ok(response.map(|body| WorkingBody::new(body.until(stop), working)))
}

fn no_room() -> Response<Body> {
    let message = "Too many connections, please try again later";
    let status = Status::too_many_requests(message, RETRY_SECONDS);
    failure_response(&status).map(WorkingBody::from)
}
