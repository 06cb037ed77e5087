use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use http_body::Body;
use http_body_util::BodyExt;
use kubewright_wire::status::Status;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// What a request may hold at most, as in Kubernetes.
const LIMIT: usize = 3 * 1024 * 1024;
/// How long a client may take to send it: what Kubernetes gives a request that is no watch.
const PATIENCE: Duration = Duration::from_secs(60);
/// What the requests under way may hold together.
const TOGETHER: usize = 256 * 1024 * 1024;
/// When to come back if there is no room.
const RETRY_SECONDS: u32 = 1;

/// The room for what requests under way hold. Each takes what it has really sent, so that one
/// that promises much and sends nothing shuts nobody out; where no room is left, 429.
#[derive(Clone, Debug)]
pub(crate) struct BodyRoom {
    free: Arc<Semaphore>,
}

impl Default for BodyRoom {
    fn default() -> Self {
        Self::of(TOGETHER)
    }
}

/// A body and its room, which is free again when this is dropped.
#[derive(Debug, Default)]
pub(super) struct Received {
    pub(super) bytes: Bytes,
    _room: Option<OwnedSemaphorePermit>,
}

impl BodyRoom {
    fn of(bytes: usize) -> Self {
        Self {
            free: Arc::new(Semaphore::new(bytes)),
        }
    }

    /// The whole body of a request, unless it is too large or takes too long.
    pub(super) async fn receive<B>(&self, body: B) -> Result<Received, Status>
    where
        B: Body + Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        // One that says how large it is need not be read to be refused.
        if body.size_hint().lower() > LIMIT as u64 {
            return Err(Status::too_large(LIMIT));
        }
        match timeout(PATIENCE, self.collect(body)).await {
            Ok(received) => received,
            Err(_) => Err(Status::timeout(
                "request did not complete within the allotted timeout",
            )),
        }
    }

    async fn collect<B>(&self, body: B) -> Result<Received, Status>
    where
        B: Body + Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let mut body = std::pin::pin!(body);
        // Copied together: each piece alone may hold on to a whole buffer of the connection.
        let mut bytes = BytesMut::new();
        let mut room = None;
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| {
                let error: Box<dyn std::error::Error + Send + Sync> = error.into();
                Status::bad_request(format!("read the body: {error}"))
            })?;
            let Ok(data) = frame.into_data() else {
                continue;
            };
            if bytes.len().saturating_add(data.remaining()) > LIMIT {
                return Err(Status::too_large(LIMIT));
            }
            self.take(data.remaining(), &mut room)?;
            bytes.put(data);
        }
        Ok(Received {
            bytes: bytes.freeze(),
            _room: room,
        })
    }

    fn take(&self, bytes: usize, room: &mut Option<OwnedSemaphorePermit>) -> Result<(), Status> {
        let wanted = u32::try_from(bytes).unwrap_or(u32::MAX);
        let taken = Arc::clone(&self.free).try_acquire_many_owned(wanted);
        let taken = taken.map_err(|_| {
            let message = "Too many requests: their bodies fill the memory for them, please try \
                           again later";
            Status::too_many_requests(message, RETRY_SECONDS)
        })?;
        match room {
            Some(room) => room.merge(taken),
            None => *room = Some(taken),
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

    use super::{BodyRoom, LIMIT};

    fn chunked(
        pieces: impl Stream<Item = Bytes> + Send,
    ) -> impl Body<Data = Bytes, Error = Infallible> + Send {
        StreamBody::new(pieces.map(|piece| Ok(Frame::data(piece))))
    }

    fn full(size: usize) -> Full<Bytes> {
        Full::from(vec![b' '; size])
    }

    #[tokio::test(start_paused = true)]
    async fn half_a_body_is_waited_for_as_long_as_kubernetes_does() {
        let begun = Instant::now();
        let half = stream::iter([Bytes::from_static(b"{")]).chain(stream::pending());
        let status = BodyRoom::default()
            .receive(chunked(half))
            .await
            .unwrap_err();
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
    async fn a_body_that_is_too_large_is_refused_where_it_becomes_so() {
        let room = BodyRoom::default();
        assert_eq!(room.receive(full(LIMIT)).await.unwrap().bytes.len(), LIMIT);
        assert_eq!(room.receive(full(LIMIT + 1)).await.unwrap_err().code, 413);
        let piece = Bytes::from(vec![b' '; 1024 * 1024]);
        let mut read = 0;
        let endless = stream::repeat(piece).inspect(|_| read += 1);
        let status = room.receive(chunked(endless)).await.unwrap_err();
        assert_eq!((status.code, read), (413, 4));
    }

    #[tokio::test]
    async fn bodies_have_room_together_and_give_it_back() {
        let room = BodyRoom::of(100);
        let first = room.receive(full(60)).await.unwrap();
        let status = room.receive(full(60)).await.unwrap_err();
        assert_eq!(status.code, 429);
        assert_eq!(status.details.unwrap().retry_after_seconds, 1);
        assert!(room.receive(full(40)).await.is_ok());
        drop(first);
        assert!(room.receive(full(100)).await.is_ok());
    }
}
