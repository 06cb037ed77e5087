//! The response body of a watch that a test can end.

use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use http_body::{Body, Frame};
use http_body_util::combinators::UnsyncBoxBody;
use kubewright_wire::status::Status;
use serde_json::json;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use tower::BoxError;

/// How an open watch ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WatchEnd {
    /// The connection is closed.
    Cut,
    /// The API server sends an error event, because the revision was compacted.
    Expired,
}

/// A watch that a test can end.
#[derive(Clone, Debug)]
pub(super) struct OpenWatch {
    resource: String,
    ended: CancellationToken,
    end: Arc<OnceLock<WatchEnd>>,
    /// Shared with the body: the watch ends when the body is dropped.
    alive: Arc<()>,
}

impl OpenWatch {
    pub(super) fn new(resource: String) -> Self {
        Self {
            resource,
            ended: CancellationToken::new(),
            end: Arc::default(),
            alive: Arc::default(),
        }
    }

    pub(super) fn resource(&self) -> &str {
        &self.resource
    }

    pub(super) fn is_open(&self) -> bool {
        Arc::strong_count(&self.alive) > 1 && !self.ended.is_cancelled()
    }

    pub(super) fn end(&self, end: WatchEnd) {
        self.end.get_or_init(|| end);
        self.ended.cancel();
    }
}

/// The response body of a watch, until it is ended.
pub(super) struct WatchBody {
    inner: UnsyncBoxBody<Bytes, BoxError>,
    ended: Pin<Box<WaitForCancellationFutureOwned>>,
    end: Arc<OnceLock<WatchEnd>>,
    _alive: Arc<()>,
    encoding: Encoding,
    is_over: bool,
}

/// The encoding of the events of a watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Json,
    Protobuf,
}

impl Encoding {
    /// The encoding in the headers of a response.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let media_type = headers
            .get(CONTENT_TYPE)
            .and_then(|value| value.to_str().ok());
        if media_type.is_some_and(|name| name.contains("protobuf")) {
            Self::Protobuf
        } else {
            Self::Json
        }
    }
}

impl WatchBody {
    pub(super) fn new(
        inner: UnsyncBoxBody<Bytes, BoxError>,
        encoding: Encoding,
        watch: &OpenWatch,
    ) -> Self {
        Self {
            inner,
            encoding,
            ended: Box::pin(watch.ended.clone().cancelled_owned()),
            end: Arc::clone(&watch.end),
            _alive: Arc::clone(&watch.alive),
            is_over: false,
        }
    }
}

impl Body for WatchBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        if self.ended.as_mut().poll(cx).is_ready() {
            self.is_over = true;
            return Poll::Ready(Some(match self.end.get() {
                Some(WatchEnd::Expired) => Ok(Frame::data(expired(self.encoding))),
                Some(WatchEnd::Cut) | None => Err("the connection was cut by a test".into()),
            }));
        }
        Pin::new(&mut self.inner).poll_frame(cx)
    }
}

/// The event of a watch whose revision was compacted.
fn expired(encoding: Encoding) -> Bytes {
    let status = Status::expired("too old resource version: injected by a test");
    match encoding {
        Encoding::Json => Bytes::from(format!("{}\n", json!({"type": "ERROR", "object": status}))),
        Encoding::Protobuf => Bytes::from(protobuf_frame(&status)),
    }
}

/// A frame of a watch in protobuf: its length, then an event with its type and its object in an
/// envelope.
fn protobuf_frame(status: &Status) -> Vec<u8> {
    let object = [
        field(2, "Failure"),
        field(3, &status.message),
        field(4, "Expired"),
        // The code, 410, as the sixth field.
        vec![6 << 3, 0x9a, 3],
    ];
    let kind = [field(1, "v1"), field(2, "Status")].concat();
    let unknown = [field(1, kind), field(2, object.concat())].concat();
    let envelope = [b"k8s\0".to_vec(), unknown].concat();
    let event = [field(1, "ERROR"), field(2, field(1, envelope))].concat();
    let length = u32::try_from(event.len()).unwrap_or_default();
    [length.to_be_bytes().to_vec(), event].concat()
}

/// A field of a message: its number, its length and its content.
fn field(number: u8, content: impl AsRef<[u8]>) -> Vec<u8> {
    let content = content.as_ref();
    let mut head = vec![number << 3 | 2];
    let mut rest = content.len();
    while rest > 0x7f {
        head.push(u8::try_from(rest & 0x7f).unwrap_or_default() | 0x80);
        rest >>= 7;
    }
    head.push(u8::try_from(rest).unwrap_or_default());
    head.extend_from_slice(content);
    head
}

#[cfg(test)]
mod tests {
    use kubewright_wire::protobuf::{Layouts, ProtobufObject};
    use kubewright_wire::scan::{Frame, FrameKind, FrameScanner, Item, ScanError};
    use kubewright_wire::status::Status;
    use serde::Deserialize as _;

    use super::{Encoding, expired};

    #[test]
    fn expired_watch_in_protobuf_ends_with_a_status() {
        let mut frames = Vec::new();
        let read = FrameScanner::new(1000).push(&expired(Encoding::Protobuf), |item| {
            let Item::Whole(bytes) = item else {
                return Ok(());
            };
            let frame = Frame::parse_protobuf(bytes)?;
            let layout = Layouts::builtin().of_status().unwrap();
            let object = ProtobufObject::new(layout, frame.object);
            frames.push((frame.kind, Status::deserialize(object).unwrap()));
            Ok::<_, ScanError>(())
        });
        read.unwrap();
        let expected = Status::expired("too old resource version: injected by a test");
        assert_eq!(frames, [(FrameKind::Error, expected)]);
    }
}
