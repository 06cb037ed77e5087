//! A socket with a write timeout, which is closed without losing the last response.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

/// How long a write may make no progress because the client does not read.
const WRITE_TIMEOUT: Duration = Duration::from_secs(60);
/// How long a client may still send after the last response: closing a socket with unread bytes
/// discards what the client has not received yet (Go's server waits as long).
const LINGER: Duration = Duration::from_millis(500);
/// The size of the buffer for bytes that arrive after the last response, which are discarded.
const DISCARD_BUFFER: usize = 16 * 1024;

/// A stream that fails when its client stops reading, and that is closed without losing the last
/// response.
pub(crate) struct ClientStream<S> {
    stream: S,
    /// Runs while a write makes no progress.
    write_timeout: Option<Pin<Box<Sleep>>>,
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
            write_timeout: None,
            closing: Closing::No,
        }
    }

    /// Returns the result of a write; fails when none has succeeded within the timeout.
    fn check_timeout<T>(
        &mut self,
        written: Poll<io::Result<T>>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.write_timeout = None;
            return written;
        }
        let timeout = self
            .write_timeout
            .get_or_insert_with(|| Box::pin(sleep(WRITE_TIMEOUT)));
        ready!(timeout.as_mut().poll(cx));
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
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.check_timeout(written, cx)
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
        let mut bytes = [0; DISCARD_BUFFER];
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
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.check_timeout(written, cx)
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

    use super::{ClientStream, WRITE_TIMEOUT};

    #[tokio::test(start_paused = true)]
    async fn write_fails_when_the_client_reads_nothing() {
        let (stream, _client) = duplex(1024);
        let begun = Instant::now();
        let mut server = ClientStream::new(stream);
        let error = server.write_all(&[0; 4096]).await.unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::TimedOut);
        assert_eq!(begun.elapsed().as_secs(), WRITE_TIMEOUT.as_secs());
    }

    #[tokio::test(start_paused = true)]
    async fn client_that_reads_slowly_receives_everything() {
        let (stream, mut client) = duplex(1024);
        let mut server = ClientStream::new(stream);
        let (sent, received) = tokio::join!(server.write_all(&[7; 8192]), async {
            let mut received = vec![0; 8192];
            for piece in received.chunks_mut(1024) {
                sleep(WRITE_TIMEOUT - Duration::from_secs(1)).await;
                client.read_exact(piece).await.unwrap();
            }
            received
        });
        assert!(sent.is_ok());
        assert_eq!(received, [7; 8192]);
    }

    #[tokio::test(start_paused = true)]
    async fn close_waits_briefly_for_what_the_client_still_sends() {
        let (stream, mut client) = duplex(1024);
        let mut server = ClientStream::new(stream);
        let (closed, sent) = tokio::join!(server.shutdown(), async {
            let sent = client.write_all(&[0; 100_000]).await;
            drop(client);
            sent
        });
        assert!(closed.is_ok() && sent.is_ok());

        let (stream, _client) = duplex(1024);
        let begun = Instant::now();
        assert!(ClientStream::new(stream).shutdown().await.is_ok());
        assert_eq!(begun.elapsed(), super::LINGER);
    }
}
