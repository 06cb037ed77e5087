//! The bodies of responses.

use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::stream::unfold;
use futures_util::{Stream, StreamExt as _};
use http_body::{Body, Frame, SizeHint};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::gzip_encoder::Gzip;
use crate::request::{List, Watch};
use crate::store::Object;

/// About the size of the chunks in which a list is sent.
const CHUNK_BYTES: usize = 64 * 1024;

/// The body of a response. Lists are written in chunks from the stored bytes, watches event by
/// event.
pub struct ServerBody {
    content: BodyContent,
}

enum BodyContent {
    Whole(Option<Bytes>),
    List(Box<ListPieces>),
    Stream(Pin<Box<dyn Stream<Item = Bytes> + Send>>),
    Compressed(Box<CompressedContent>),
}

/// A list or whole body that is compressed as it is sent.
struct CompressedContent {
    content: BodyContent,
    gzip: Gzip,
}

struct ListPieces {
    head: Option<Vec<u8>>,
    items: std::vec::IntoIter<std::sync::Arc<Object>>,
    shows_kinds: bool,
    is_first: bool,
}

impl ServerBody {
    pub(super) fn whole(bytes: impl Into<Bytes>) -> Self {
        Self {
            content: BodyContent::Whole(Some(bytes.into())),
        }
    }

    pub(super) fn list(list: List) -> Self {
        Self {
            content: BodyContent::List(Box::new(ListPieces {
                head: Some(open(&list)),
                shows_kinds: list.shows_kinds,
                items: list.items.into_iter(),
                is_first: true,
            })),
        }
    }

    /// Whether the body before compression is longer than a limit; false for a watch. Encodes no
    /// more objects than the comparison needs.
    pub(super) fn exceeds(&self, limit: usize) -> bool {
        match &self.content {
            BodyContent::Whole(bytes) => bytes.as_ref().is_some_and(|bytes| bytes.len() > limit),
            BodyContent::List(pieces) => {
                let mut length = 0_usize;
                pieces.items.as_slice().iter().any(|object| {
                    length = length.saturating_add(object.bytes().len());
                    length > limit
                })
            }
            BodyContent::Stream(_) | BodyContent::Compressed(_) => false,
        }
    }

    /// Compresses the body as it is sent.
    pub(super) fn compressed(self) -> Self {
        let compressed = CompressedContent {
            content: self.content,
            gzip: Gzip::new(),
        };
        Self {
            content: BodyContent::Compressed(Box::new(compressed)),
        }
    }

    /// Ends a watch when the server stops.
    pub(super) fn until(self, stop: CancellationToken) -> Self {
        let content = match self.content {
            BodyContent::Stream(stream) => {
                let stopped = async move { stop.cancelled().await };
                BodyContent::Stream(Box::pin(stream.take_until(Box::pin(stopped))))
            }
            content => content,
        };
        Self { content }
    }

    pub(super) fn watch(watch: Watch) -> Self {
        let stream = unfold(watch, |mut watch| async move {
            let lines = watch.next().await?;
            Some((lines, watch))
        });
        Self {
            content: BodyContent::Stream(Box::pin(stream)),
        }
    }
}

impl Body for ServerBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let data = match &mut self.content {
            BodyContent::Whole(bytes) => bytes.take(),
            BodyContent::List(pieces) => pieces.next(),
            BodyContent::Stream(stream) => match stream.as_mut().poll_next(cx) {
                Poll::Ready(data) => data,
                Poll::Pending => return Poll::Pending,
            },
            BodyContent::Compressed(compressed) => compressed.next(),
        };
        Poll::Ready(data.map(|data| Ok(Frame::data(data))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.content, BodyContent::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match &self.content {
            BodyContent::Whole(bytes) => {
                let length = bytes.as_ref().map_or(0, Bytes::len);
                SizeHint::with_exact(u64::try_from(length).unwrap_or(u64::MAX))
            }
            BodyContent::List(_) | BodyContent::Stream(_) | BodyContent::Compressed(_) => {
                SizeHint::default()
            }
        }
    }
}

impl fmt::Debug for ServerBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match &self.content {
            BodyContent::Whole(bytes) => return f.debug_tuple("Whole").field(bytes).finish(),
            BodyContent::List(_) => "List",
            BodyContent::Stream(_) => "Stream",
            BodyContent::Compressed(_) => "Compressed",
        };
        f.write_str(kind)
    }
}

impl CompressedContent {
    /// The next compressed bytes.
    fn next(&mut self) -> Option<Bytes> {
        loop {
            let piece = match &mut self.content {
                BodyContent::Whole(bytes) => bytes.take(),
                BodyContent::List(pieces) => pieces.next(),
                // Watches are not compressed, and no body is compressed twice.
                BodyContent::Stream(_) | BodyContent::Compressed(_) => None,
            };
            match self.gzip.take(piece) {
                Some(bytes) if bytes.is_empty() => {}
                other => return other,
            }
        }
    }
}

impl ListPieces {
    fn next(&mut self) -> Option<Bytes> {
        let mut piece = self.head.take()?;
        while piece.len() < CHUNK_BYTES {
            let Some(object) = self.items.next() else {
                piece.extend_from_slice(b"]}\n");
                return Some(Bytes::from(piece));
            };
            if !std::mem::take(&mut self.is_first) {
                piece.push(b',');
            }
            if self.shows_kinds {
                piece.extend_from_slice(object.bytes());
            } else {
                piece.push(b'{');
                piece.extend_from_slice(&object.bytes_without_kind());
            }
        }
        self.head = Some(Vec::with_capacity(CHUNK_BYTES));
        Some(Bytes::from(piece))
    }
}

/// The beginning of a list, up to the first item.
fn open(list: &List) -> Vec<u8> {
    let member = |name: &str| list.head.get(name).unwrap_or(&Value::Null);
    let head = format!(
        "{{\"kind\":{},\"apiVersion\":{},\"metadata\":{},\"items\":[",
        member("kind"),
        member("apiVersion"),
        member("metadata")
    );
    head.into_bytes()
}
