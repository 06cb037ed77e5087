//! Sources of connections: a TCP listener, or a pipe within this process.

use std::io;

use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, duplex};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use crate::client_stream::ClientStream;

/// The buffer of each direction of a pipe.
const PIPE_BYTES: usize = 64 * 1024;
/// How many connections wait to be accepted; further calls of `connect` wait.
const PIPE_QUEUE: usize = 64;

/// The source of a server's connections.
#[derive(Debug)]
#[non_exhaustive]
pub enum Incoming {
    /// A TCP listener.
    Socket(TcpListener),
    /// A pipe within this process; see [`pipe`].
    Pipe(PipeListener),
}

/// Creates a connector and a listener within this process, without sockets, so that paused time
/// does not advance while one side waits for the other.
pub fn pipe() -> (PipeConnector, PipeListener) {
    let (sender, receiver) = mpsc::channel(PIPE_QUEUE);
    (PipeConnector { sender }, PipeListener { receiver })
}

/// The side that connects. Clones connect to the same listener.
#[derive(Clone, Debug)]
pub struct PipeConnector {
    sender: mpsc::Sender<DuplexStream>,
}

/// The side that accepts.
#[derive(Debug)]
pub struct PipeListener {
    receiver: mpsc::Receiver<DuplexStream>,
}

impl PipeConnector {
    /// A new connection; fails with `ConnectionRefused` once the listener is dropped.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, no connection is made.
    pub async fn connect(&self) -> io::Result<DuplexStream> {
        let (ours, theirs) = duplex(PIPE_BYTES);
        match self.sender.send(theirs).await {
            Ok(()) => Ok(ours),
            Err(_) => Err(io::ErrorKind::ConnectionRefused.into()),
        }
    }
}

/// A connection of a socket or pipe.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

impl Incoming {
    /// The next connection; `None` when all connectors of a pipe are dropped.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, no connection is lost.
    pub(crate) async fn accept(&mut self) -> io::Result<Option<Box<dyn Stream>>> {
        match self {
            Self::Pipe(listener) => {
                let stream = listener.receiver.recv().await;
                Ok(stream.map(|stream| Box::new(stream) as Box<dyn Stream>))
            }
            Self::Socket(listener) => {
                let (stream, _) = listener.accept().await?;
                // Responses and watch events are small and must not be delayed.
                if let Err(error) = stream.set_nodelay(true) {
                    tracing::debug!(%error, "set TCP_NODELAY");
                }
                Ok(Some(Box::new(ClientStream::new(stream))))
            }
        }
    }
}
