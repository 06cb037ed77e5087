//! A socket whose client is waited for, but not for ever.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

/// How long a client may leave everything unread that is sent to it.
const UNREAD: Duration = Duration::from_secs(60);
/// How long a client may still send after the last response: closing a socket with unread bytes
/// discards what the client has not received yet (Go's server waits as long).
const LINGER: Duration = Duration::from_millis(500);
const DISCARDED: usize = 16 * 1024;

/// A stream that fails when its client stops reading, and that is closed without losing the last
/// response.
pub(crate) struct ClientStream<S> {
    stream: S,
    /// Runs while the client does not read.
    unread: Option<Pin<Box<Sleep>>>,
    closing: Closing,
}

enum Closing {
    No,
    /// The end was sent; the client may still be sending.
    Sent(Pin<Box<Sleep>>),
}

impl<S> ClientStream<S> {
    pub(crate) fn new(stream: S) -> Self {
        Self {
            stream,
            unread: None,
            closing: Closing::No,
        }
    }

    /// Passes on the result of a write; fails after too long a time without a successful one.
    fn note<T>(&mut self, sent: Poll<io::Result<T>>, cx: &mut Context<'_>) -> Poll<io::Result<T>> {
        if sent.is_ready() {
            self.unread = None;
            return sent;
        }
        let unread = self.unread.get_or_insert_with(|| Box::pin(sleep(UNREAD)));
        ready!(unread.as_mut().poll(cx));
        Poll::Ready(Err(io::Error::new(
            io::ErrorKind::TimedOut,
            "send to a client that does not read",
        )))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for ClientStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for ClientStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let sent = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.note(sent, cx)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let Closing::No = self.closing {
            ready!(Pin::new(&mut self.stream).poll_shutdown(cx))?;
            self.closing = Closing::Sent(Box::pin(sleep(LINGER)));
        }
        let Self {
            stream, closing, ..
        } = &mut *self;
        let Closing::Sent(linger) = closing else {
            return Poll::Ready(Ok(()));
        };
        let mut bytes = [0; DISCARDED];
        while !linger.is_elapsed() && linger.deadline() > Instant::now() {
            let mut buffer = ReadBuf::new(&mut bytes);
            match Pin::new(&mut *stream).poll_read(cx, &mut buffer) {
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {}
                Poll::Ready(_) => return Poll::Ready(Ok(())),
                Poll::Pending => {
                    ready!(linger.as_mut().poll(cx));
                }
            }
        }
        Poll::Ready(Ok(()))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let sent = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.note(sent, cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
    use tokio::time::{Instant, sleep};

    use super::{ClientStream, UNREAD};

    #[tokio::test(start_paused = true)]
    async fn write_fails_when_the_client_reads_nothing() {
        let (server, _client) = duplex(1024);
        let begun = Instant::now();
        let mut server = ClientStream::new(server);
        let error = server.write_all(&[0; 4096]).await.unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::TimedOut);
        assert_eq!(begun.elapsed().as_secs(), UNREAD.as_secs());
    }

    #[tokio::test(start_paused = true)]
    async fn client_that_reads_slowly_receives_everything() {
        let (server, mut client) = duplex(1024);
        let mut server = ClientStream::new(server);
        let (sent, received) = tokio::join!(server.write_all(&[7; 8192]), async {
            let mut received = vec![0; 8192];
            for piece in received.chunks_mut(1024) {
                sleep(UNREAD - Duration::from_secs(1)).await;
                client.read_exact(piece).await.unwrap();
            }
            received
        });
        assert!(sent.is_ok());
        assert_eq!(received, [7; 8192]);
    }

    #[tokio::test(start_paused = true)]
    async fn close_waits_briefly_for_what_the_client_still_sends() {
        let (server, mut client) = duplex(1024);
        let mut server = ClientStream::new(server);
        let (closed, sent) = tokio::join!(server.shutdown(), async {
            let sent = client.write_all(&[0; 100_000]).await;
            drop(client);
            sent
        });
        assert!(closed.is_ok() && sent.is_ok());

        let (server, _client) = duplex(1024);
        let begun = Instant::now();
        assert!(ClientStream::new(server).shutdown().await.is_ok());
        assert_eq!(begun.elapsed(), super::LINGER);
    }
}
