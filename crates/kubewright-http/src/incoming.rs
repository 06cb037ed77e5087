//! Where connections come from.

use std::io;

use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, duplex};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use crate::client_stream::ClientStream;

/// How much one side of a pipe may be ahead of the other.
const PIPE_BYTES: usize = 64 * 1024;
/// How many connections may wait; more wait in `connect`.
const PIPE_QUEUE: usize = 64;

/// Where connections come from.
#[derive(Debug)]
#[non_exhaustive]
pub enum Incoming {
    /// A socket.
    Socket(TcpListener),
    /// This process; see [`pipe`].
    Pipe(PipeListener),
}

/// Connections within this process: nothing leaves it, and paused time does not run on while one
/// side waits for the other.
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
    /// A new connection; refused when nobody listens any more.
    ///
    /// # Cancel safety
    ///
    /// Dropped, there is no connection.
    pub async fn connect(&self) -> io::Result<DuplexStream> {
        let (ours, theirs) = duplex(PIPE_BYTES);
        match self.sender.send(theirs).await {
            Ok(()) => Ok(ours),
            Err(_) => Err(io::ErrorKind::ConnectionRefused.into()),
        }
    }
}

/// A connection of either kind.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

impl Incoming {
    /// The next connection; none when there will be no more.
    ///
    /// # Cancel safety
    ///
    /// A connection is either returned or still waits.
    pub(crate) async fn accept(&mut self) -> io::Result<Option<Box<dyn Stream>>> {
        match self {
            Self::Pipe(listener) => {
                let stream = listener.receiver.recv().await;
                Ok(stream.map(|stream| Box::new(stream) as Box<dyn Stream>))
            }
            Self::Socket(listener) => {
                let (stream, _) = listener.accept().await?;
                // Responses and events of watches are small, and wait for nothing.
                if let Err(error) = stream.set_nodelay(true) {
                    tracing::debug!(%error, "set TCP_NODELAY");
                }
                Ok(Some(Box::new(ClientStream::new(stream))))
            }
        }
    }
}
