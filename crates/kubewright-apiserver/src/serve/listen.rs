//! The server on a socket.

use std::convert::Infallible;
use std::time::Duration;

use http::{Request, Response, StatusCode};
use hyper::body::Incoming as HyperBody;
use hyper::service::service_fn;
use kubewright_http::{Activity, Http, InFlightBody, Incoming, Limits, Peer, Serving, serve};
use kubewright_wire::status::Status;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tower::Service as _;

use super::error::Error;
use super::handle::failure;
use super::identity::ServingIdentity;
use super::in_process::InProcess;
use super::response_body::ServerBody;
use crate::authentication::{Credentials, user_of_certificate};
use crate::encoding::Format;

/// The timeout of the TLS handshake, and of the headers of a request.
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_HEADER_BYTES: u32 = 64 * 1024;
/// The grace period of requests in flight when the server stops. Watches end at once.
const DRAIN: Duration = Duration::from_millis(1500);
/// How many connections can be open without authentication.
const MAX_UNAUTHENTICATED: usize = 1024;
/// The `Retry-After` of 429.
const RETRY_SECONDS: u32 = 1;

type Body = InFlightBody<ServerBody>;

/// Serves on a socket until it is cancelled. `service` is the service of a connection.
pub(crate) async fn listen(
    listener: TcpListener,
    identity: &ServingIdentity,
    cancel: CancellationToken,
    service: impl Fn(Credentials) -> InProcess + Send + Sync + 'static,
) -> Result<(), Error> {
    let serving = Serving {
        incoming: Incoming::Socket(listener),
        http: Http {
            tls: Some(TlsAcceptor::from(identity.tls()?)),
            header_timeout: HEADER_TIMEOUT,
            header_bytes: MAX_HEADER_BYTES,
            drain: DRAIN,
        },
        limits: Limits::of_process(MAX_UNAUTHENTICATED),
        overload_response: Some(too_many_connections),
        shutdown_delay: Duration::ZERO,
        stop: cancel.clone(),
    };
    serve(serving, move |peer: Peer| {
        let certificate = peer.certificate.as_ref();
        let user = certificate.and_then(|certificate| user_of_certificate(certificate));
        if user.is_some() {
            peer.activity.trust();
        }
        let credentials = user.map_or(Credentials::Anonymous, Credentials::Certificate);
        let service = service(credentials);
        let (activity, cancel) = (peer.activity, cancel.clone());
        service_fn(move |request: Request<HyperBody>| {
            let response = service.clone().call(request);
            respond(response, activity.clone(), cancel.clone())
        })
    })
    .await;
    Ok(())
}

/// Waits for a response. The connection is in use until the body is sent.
async fn respond(
    response: impl Future<Output = Result<Response<ServerBody>, Infallible>>,
    activity: Activity,
    stop: CancellationToken,
) -> Result<Response<Body>, Infallible> {
    let in_flight = activity.begin();
    let Ok(response) = response.await;
    if response.status() != StatusCode::UNAUTHORIZED {
        activity.trust();
    }
    Ok(response.map(|body| InFlightBody::new(body.until(stop), in_flight)))
}

fn too_many_connections() -> Response<Body> {
    let message = "Too many connections, please try again later";
    let status = Status::too_many_requests(message, RETRY_SECONDS);
    failure(&status, Format::Json)
        .map(ServerBody::whole)
        .map(InFlightBody::from)
}
