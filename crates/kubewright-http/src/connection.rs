//! One connection: the TLS handshake, then HTTP requests until it is closed.

use std::convert::Infallible;
use std::error::Error;
use std::fmt;
use std::pin::{Pin, pin};
use std::time::Duration;

use http::{Request, Response};
use http_body::Body;
use hyper::body::Incoming as HyperBody;
use hyper::rt::{Read, Write};
use hyper::server::conn::http1;
#[cfg(feature = "http2")]
use hyper::server::conn::http2;
use hyper::service::Service;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulConnection;
use rustls_pki_types::CertificateDer;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

#[cfg(feature = "http2")]
use crate::http2::{
    MAX_CONCURRENT_STREAMS, PING_INTERVAL, PING_TIMEOUT, RequestTasks, is_negotiated,
};
use crate::incoming::Stream;
use crate::slots::{Activity, Slot};

/// TLS, timeouts and limits for the connections of a server.
#[derive(Clone)]
pub struct Http {
    /// Without it, the server speaks plain HTTP.
    pub tls: Option<TlsAcceptor>,
    /// How long a client may take for the handshake, and for the headers of each request.
    pub header_timeout: Duration,
    /// The largest size of the headers of a request, in bytes.
    pub header_bytes: u32,
    /// How long requests in flight may take once the server closes.
    pub drain: Duration,
}

/// The client at the other end of a connection.
#[derive(Clone, Debug)]
pub struct Peer {
    /// The client certificate.
    pub certificate: Option<CertificateDer<'static>>,
    /// The activity of the connection, for the limits of the server.
    pub activity: Activity,
}

impl Http {
    /// Serves one connection until the client disconnects, the server closes, or the connection is
    /// evicted.
    pub(crate) async fn serve<S, B>(
        &self,
        stream: Box<dyn Stream>,
        slot: Slot,
        service: impl FnOnce(Peer) -> S,
        closing: &CancellationToken,
    ) where
        S: Service<Request<HyperBody>, Response = Response<B>, Error = Infallible>,
        S::Future: Send + 'static,
        B: Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        let served = self.handle(stream, slot.activity().clone(), service, closing);
        tokio::select! {
            biased;
            () = slot.evicted() => tracing::debug!("closed an idle connection to accept another"),
            () = served => {}
        }
    }

    async fn handle<S, B>(
        &self,
        stream: Box<dyn Stream>,
        activity: Activity,
        service: impl FnOnce(Peer) -> S,
        closing: &CancellationToken,
    ) where
        S: Service<Request<HyperBody>, Response = Response<B>, Error = Infallible>,
        S::Future: Send + 'static,
        B: Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        let Some(tls) = &self.tls else {
            let peer = Peer {
                certificate: None,
                activity,
            };
            return self
                .http1(TokioIo::new(stream), service(peer), closing)
                .await;
        };
        let handshake = tokio::select! {
            () = closing.cancelled() => return,
            handshake = timeout(self.header_timeout, tls.accept(stream)) => handshake,
        };
        let encrypted = match handshake {
            Ok(Ok(encrypted)) => encrypted,
            Ok(Err(error)) => return tracing::debug!(%error, "the TLS handshake failed"),
            Err(_) => return tracing::debug!("the TLS handshake timed out"),
        };
        let chain = encrypted.get_ref().1.peer_certificates();
        let certificate = chain.and_then(|chain| chain.first());
        let service = service(Peer {
            certificate: certificate.map(|certificate| certificate.clone().into_owned()),
            activity,
        });
        #[cfg(feature = "http2")]
        if is_negotiated(&encrypted) {
            return self.http2(TokioIo::new(encrypted), service, closing).await;
        }
        self.http1(TokioIo::new(encrypted), service, closing).await;
    }

    async fn http1<I, S, B>(&self, stream: I, service: S, closing: &CancellationToken)
    where
        I: Read + Write + Unpin + 'static,
        S: Service<Request<HyperBody>, Response = Response<B>, Error = Infallible>,
        B: Body + 'static,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.header_timeout)
            .max_buf_size(self.header_bytes as usize)
            .serve_connection(stream, service);
        self.drive(pin!(connection), closing).await;
    }

    #[cfg(feature = "http2")]
    async fn http2<I, S, B>(&self, stream: I, service: S, closing: &CancellationToken)
    where
        I: Read + Write + Unpin + 'static,
        S: Service<Request<HyperBody>, Response = Response<B>, Error = Infallible>,
        S::Future: Send + 'static,
        B: Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        let tasks = RequestTasks::default();
        let connection = http2::Builder::new(tasks.clone())
            .timer(TokioTimer::new())
            .max_header_list_size(self.header_bytes)
            .max_concurrent_streams(MAX_CONCURRENT_STREAMS)
            .keep_alive_interval(PING_INTERVAL)
            .keep_alive_timeout(PING_TIMEOUT)
            .serve_connection(stream, service);
        self.drive(pin!(connection), closing).await;
        tasks.wait(self.drain).await;
    }

    /// Serves requests until the client disconnects. Once the server closes, those in flight have
    /// the time `drain` to complete.
    async fn drive(
        &self,
        mut connection: Pin<&mut impl GracefulConnection<Error = hyper::Error>>,
        closing: &CancellationToken,
    ) {
        let ended = tokio::select! {
            ended = connection.as_mut() => Some(ended),
            () = closing.cancelled() => {
                connection.as_mut().graceful_shutdown();
                timeout(self.drain, connection.as_mut()).await.ok()
            }
        };
        match ended {
            Some(Ok(())) => {}
            Some(Err(error)) => tracing::debug!(%error, "a connection failed"),
            None => tracing::warn!("a connection was closed with a request in flight"),
        }
    }
}

impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Http")
            .field("is_encrypted", &self.tls.is_some())
            .field("header_timeout", &self.header_timeout)
            .field("header_bytes", &self.header_bytes)
            .field("drain", &self.drain)
            .finish()
    }
}
