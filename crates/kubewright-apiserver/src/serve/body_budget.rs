//! Reads the bodies of requests within limits.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use http_body::Body;
use http_body_util::BodyExt;
use kubewright_wire::status::Status;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// The largest body, as in Kubernetes.
const MAX_BODY_BYTES: usize = 3 * 1024 * 1024;
/// The timeout of reading a body: that of Kubernetes for requests other than watches.
const BODY_TIMEOUT: Duration = Duration::from_secs(60);
/// The memory for the bodies of all requests in flight.
const TOTAL_BYTES: usize = 256 * 1024 * 1024;
/// The `Retry-After` when the memory is used up.
const RETRY_SECONDS: u32 = 1;

/// The memory for the bodies of requests in flight. A request is charged for the bytes that it has
/// sent, so that a request that announces a large body and sends nothing blocks no other. When the
/// memory is used up, requests fail with 429.
#[derive(Clone, Debug)]
pub(crate) struct BodyBudget {
    free: Arc<Semaphore>,
}

impl Default for BodyBudget {
    fn default() -> Self {
        Self::with_bytes(TOTAL_BYTES)
    }
}

/// A body and its share of the memory, which is released when this is dropped.
#[derive(Debug, Default)]
pub(super) struct ReceivedBody {
    pub(super) bytes: Bytes,
    _permit: Option<OwnedSemaphorePermit>,
}

impl BodyBudget {
    fn with_bytes(bytes: usize) -> Self {
        Self {
            free: Arc::new(Semaphore::new(bytes)),
        }
    }

    /// Reads the body of a request, unless it is too large or takes too long.
    pub(super) async fn read<B>(&self, body: B) -> Result<ReceivedBody, Status>
    where
        B: Body + Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        // A body that announces its size is rejected without reading it.
        if body.size_hint().lower() > MAX_BODY_BYTES as u64 {
            return Err(Status::too_large(MAX_BODY_BYTES));
        }
        match timeout(BODY_TIMEOUT, self.collect(body)).await {
            Ok(received) => received,
            Err(_) => Err(Status::timeout(
                "request did not complete within the allotted timeout",
            )),
        }
    }

    async fn collect<B>(&self, body: B) -> Result<ReceivedBody, Status>
    where
        B: Body + Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let mut body = std::pin::pin!(body);
        // Copied, because each chunk can keep a whole buffer of the connection alive.
        let mut bytes = BytesMut::new();
        let mut permit = None;
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| {
                let error: Box<dyn std::error::Error + Send + Sync> = error.into();
                Status::bad_request(format!("read the body: {error}"))
            })?;
            let Ok(data) = frame.into_data() else {
                continue;
            };
            if bytes.len().saturating_add(data.remaining()) > MAX_BODY_BYTES {
                return Err(Status::too_large(MAX_BODY_BYTES));
            }
            self.take(data.remaining(), &mut permit)?;
            bytes.put(data);
        }
        Ok(ReceivedBody {
            bytes: bytes.freeze(),
            _permit: permit,
        })
    }

    fn take(&self, bytes: usize, permit: &mut Option<OwnedSemaphorePermit>) -> Result<(), Status> {
        let wanted = u32::try_from(bytes).unwrap_or(u32::MAX);
        let taken = Arc::clone(&self.free)
            .try_acquire_many_owned(wanted)
            .map_err(|_| {
                let message = "Too many requests: their bodies fill the memory for them, please \
                               try again later";
                Status::too_many_requests(message, RETRY_SECONDS)
            })?;
        match permit {
            Some(permit) => permit.merge(taken),
            None => *permit = Some(taken),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::time::Duration;

    use bytes::Bytes;
    use futures_util::{Stream, StreamExt, stream};
    use http_body::{Body, Frame};
    use http_body_util::{Full, StreamBody};
    use tokio::time::Instant;

    use super::{BodyBudget, MAX_BODY_BYTES};

    fn chunked(
        pieces: impl Stream<Item = Bytes> + Send,
    ) -> impl Body<Data = Bytes, Error = Infallible> + Send {
        StreamBody::new(pieces.map(|piece| Ok(Frame::data(piece))))
    }

    fn full(size: usize) -> Full<Bytes> {
        Full::from(vec![b' '; size])
    }

    #[tokio::test(start_paused = true)]
    async fn incomplete_body_times_out_after_60_seconds() {
        let begun = Instant::now();
        let half = stream::iter([Bytes::from_static(b"{")]).chain(stream::pending());
        let status = BodyBudget::default().read(chunked(half)).await.unwrap_err();
        assert_eq!(begun.elapsed(), Duration::from_secs(60));
        assert_eq!(
            (status.code, status.message.as_str()),
            (
                504,
                "Timeout: request did not complete within the allotted timeout"
            )
        );
    }

    #[tokio::test]
    async fn body_is_rejected_at_the_byte_that_exceeds_the_limit() {
        let budget = BodyBudget::default();
        assert_eq!(
            budget.read(full(MAX_BODY_BYTES)).await.unwrap().bytes.len(),
            MAX_BODY_BYTES
        );
        assert_eq!(
            budget
                .read(full(MAX_BODY_BYTES + 1))
                .await
                .unwrap_err()
                .code,
            413
        );
        let piece = Bytes::from(vec![b' '; 1024 * 1024]);
        let mut read = 0;
        let endless = stream::repeat(piece).inspect(|_| read += 1);
        let status = budget.read(chunked(endless)).await.unwrap_err();
        assert_eq!((status.code, read), (413, 4));
    }

    #[tokio::test]
    async fn bodies_share_the_memory_and_release_it() {
        let budget = BodyBudget::with_bytes(100);
        let first = budget.read(full(60)).await.unwrap();
        let status = budget.read(full(60)).await.unwrap_err();
        assert_eq!(status.code, 429);
        assert_eq!(status.details.unwrap().retry_after_seconds, 1);
        assert!(budget.read(full(40)).await.is_ok());
        drop(first);
        assert!(budget.read(full(100)).await.is_ok());
    }
}
