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
pub(crate) enum Ending {
    /// The connection breaks.
    Cut,
    /// The API server says that the revision is too old, and ends it.
    Expired,
}

/// A watch that can be ended from outside.
#[derive(Clone, Debug)]
pub(super) struct OpenWatch {
    resource: String,
    ended: CancellationToken,
    ending: Arc<OnceLock<Ending>>,
    /// Held by the body too: once that is gone, so is the watch.
    alive: Arc<()>,
}

impl OpenWatch {
    pub(super) fn new(resource: String) -> Self {
        Self {
            resource,
            ended: CancellationToken::new(),
            ending: Arc::default(),
            alive: Arc::default(),
        }
    }

    pub(super) fn resource(&self) -> &str {
        &self.resource
    }

    pub(super) fn is_open(&self) -> bool {
        Arc::strong_count(&self.alive) > 1 && !self.ended.is_cancelled()
    }

    pub(super) fn end(&self, ending: Ending) {
        self.ending.get_or_init(|| ending);
        self.ended.cancel();
    }
}

/// The body of a watch's answer, until it is ended.
pub(super) struct WatchBody {
    inner: UnsyncBoxBody<Bytes, BoxError>,
    ended: Pin<Box<WaitForCancellationFutureOwned>>,
    ending: Arc<OnceLock<Ending>>,
    _alive: Arc<()>,
    form: Form,
    is_over: bool,
}

/// How the events of a watch are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Json,
    Protobuf,
}

impl Form {
    /// The form that an answer says it has.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let media_type = headers.get(CONTENT_TYPE);
        let media_type = media_type.and_then(|value| value.to_str().ok());
        match media_type.is_some_and(|name| name.contains("protobuf")) {
            true => Self::Protobuf,
            false => Self::Json,
        }
    }
}

impl WatchBody {
    pub(super) fn new(
        inner: UnsyncBoxBody<Bytes, BoxError>,
        form: Form,
        watch: &OpenWatch,
    ) -> Self {
        Self {
            inner,
            form,
            ended: Box::pin(watch.ended.clone().cancelled_owned()),
            ending: Arc::clone(&watch.ending),
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
            return Poll::Ready(Some(match self.ending.get() {
                Some(Ending::Expired) => Ok(Frame::data(expired(self.form))),
                Some(Ending::Cut) | None => Err("the connection was cut by a test".into()),
            }));
        }
        Pin::new(&mut self.inner).poll_frame(cx)
    }
}

/// The event that says that the revision is too old.
fn expired(form: Form) -> Bytes {
    let status = Status::expired("too old resource version: injected by a test");
    match form {
        Form::Json => Bytes::from(format!("{}\n", json!({"type": "ERROR", "object": status}))),
        Form::Protobuf => Bytes::from(protobuf_frame(&status)),
    }
}

/// A frame of a watch in protobuf: its length, then the type of the event and its object in an
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
    let inside = [field(1, kind), field(2, object.concat())].concat();
    let envelope = [b"k8s\0".to_vec(), inside].concat();
    let event = [field(1, "ERROR"), field(2, field(1, envelope))].concat();
    let length = u32::try_from(event.len()).unwrap_or_default();
    [length.to_be_bytes().to_vec(), event].concat()
}

/// A field of a message: its number, its length and what is in it.
fn field(number: u8, inside: impl AsRef<[u8]>) -> Vec<u8> {
    let inside = inside.as_ref();
    let mut head = vec![number << 3 | 2];
    let mut rest = inside.len();
    while rest > 0x7f {
        head.push(u8::try_from(rest & 0x7f).unwrap_or_default() | 0x80);
        rest >>= 7;
    }
    head.push(u8::try_from(rest).unwrap_or_default());
    head.extend_from_slice(inside);
    head
}

#[cfg(test)]
mod tests {
    use kubewright_wire::protobuf::{Layouts, ProtobufObject};
    use kubewright_wire::scan::{Frame, FrameKind, FrameScanner, Item, ScanError};
    use kubewright_wire::status::Status;
    use serde::Deserialize as _;

    use super::{Form, expired};

    #[test]
    fn an_expired_watch_in_protobuf_ends_with_a_status_that_says_so() {
        let mut told = Vec::new();
        let read = FrameScanner::new(1000).push(&expired(Form::Protobuf), |item| {
            let Item::Whole(bytes) = item else {
                return Ok(());
            };
            let frame = Frame::parse_protobuf(bytes)?;
            let layout = Layouts::builtin().of_status().unwrap();
            let object = ProtobufObject::new(layout, frame.object);
            told.push((frame.kind, Status::deserialize(object).unwrap()));
            Ok::<_, ScanError>(())
        });
        read.unwrap();
        let expected = Status::expired("too old resource version: injected by a test");
        assert_eq!(told, [(FrameKind::Error, expected)]);
    }
}
