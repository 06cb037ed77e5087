use std::pin::{Pin, pin};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulConnection;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

#[cfg(feature = "http2")]
use super::http2;
use super::patient::Patient;
use crate::server::Server;
use crate::who::{Credentials, user_of_certificate};

/// How long a client may take for the handshake, or for the headers of a request.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long requests under way may take once the server stops; watches would never end.
pub(super) const FAREWELL: Duration = Duration::from_secs(2);
/// The most that the headers of a request may take, in bytes.
pub(super) const HEADERS: u32 = 64 * 1024;
/// Serves one connection until the client leaves or the server stops.
pub(super) async fn serve_connection(
    server: Server,
    acceptor: TlsAcceptor,
    stream: TcpStream,
    cancel: CancellationToken,
) {
    let handshake = tokio::select! {
        () = cancel.cancelled() => return,
        handshake = timeout(PATIENCE, acceptor.accept(Patient::new(stream))) => handshake,
    };
    let stream = match handshake {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => return tracing::debug!(%error, "a client failed the handshake"),
        Err(_) => return tracing::debug!("a client did not finish the handshake in time"),
    };
    let (_, session) = stream.get_ref();
    let certificate = session.peer_certificates().and_then(|chain| chain.first());
    let credentials = certificate
        .and_then(|certificate| user_of_certificate(certificate))
        .map_or(Credentials::Anonymous, Credentials::Certificate);
    let service = TowerToHyperService::new(server.service_for(credentials));

    #[cfg(feature = "http2")]
    if http2::is_chosen(&stream) {
        return http2::serve(stream, service, &cancel).await;
    }
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        .max_buf_size(HEADERS as usize)
        .serve_connection(TokioIo::new(stream), service);
    drive(pin!(connection), &cancel).await;
}

/// Answers until the client leaves. Once the server stops, requests under way have a while.
pub(super) async fn drive(
    mut connection: Pin<&mut impl GracefulConnection<Error = hyper::Error>>,
    cancel: &CancellationToken,
) {
    let ended = tokio::select! {
        ended = connection.as_mut() => Some(ended),
        () = cancel.cancelled() => {
            connection.as_mut().graceful_shutdown();
            timeout(FAREWELL, connection.as_mut()).await.ok()
        }
    };
    if let Some(Err(error)) = ended {
        tracing::debug!(%error, "a connection broke");
    }
}
