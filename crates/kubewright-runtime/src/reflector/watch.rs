use std::time::Duration;

use kubewright_wire::record::{Encoder, RecordError};
use kubewright_wire::scan::{Bookmark, Frame, FrameKind, LineScanner};
use kubewright_wire::status::Status;
use tokio::time::Instant;

use super::item::{ItemError, Skipped, encode};
use super::{InformerSpec, ReflectorOptions, Sink};
use crate::Error;
use crate::client::{Query, open};
use crate::store::Delta;

/// A watch is answered at once, if at all.
const PATIENCE: Duration = Duration::from_secs(30);
/// What a server may be late when it ends a watch whose time is over.
const GRACE: Duration = Duration::from_secs(5);
/// A server sends a bookmark about every minute; where two of them are missing, nobody is there.
const IDLE: Duration = Duration::from_secs(150);
/// A watch that ends within this time and says nothing was no watch.
const TOO_SHORT: Duration = Duration::from_secs(1);

/// One watch, from one revision to its end.
pub(super) struct Watch<'a> {
    pub(super) client: &'a kube::Client,
    pub(super) spec: &'a InformerSpec,
    pub(super) options: &'a ReflectorOptions,
    pub(super) encoder: &'a mut Encoder,
    /// How long the server shall keep it open.
    pub(super) length: Duration,
}

impl Watch<'_> {
    /// Hands the sink what the watch says until it ends; `resource_version` moves along, so that
    /// the next watch goes on there.
    pub(super) async fn follow(
        self,
        resource_version: &mut String,
        sink: &mut impl Sink,
    ) -> Result<(), Error> {
        let what = format!(
            "watch {} from revision {resource_version}",
            self.spec.what()
        );
        let query = Query::new()
            .with("watch", true)
            .with("allowWatchBookmarks", true)
            .with("resourceVersion", &resource_version)
            .with("timeoutSeconds", self.length.as_secs());
        let began = Instant::now();
        let deadline = began + self.length + GRACE;
        let mut answer = open(self.client, &what, &self.spec.path(query), PATIENCE).await?;
        let mut scanner = LineScanner::new(self.options.largest_object);
        let mut heard = false;
        while let Some(chunk) = answer.chunk(deadline.min(Instant::now() + IDLE)).await? {
            let mut deltas = Vec::new();
            let mut skipped = Skipped::default();
            let taken = scanner.push(&chunk, |line| {
                heard = true;
                match read_frame(self.encoder, line)? {
                    Ok(delta) => deltas.push(delta),
                    Err(error) => skipped.note(error),
                }
                Ok(())
            });
            // What came before a failure in the same chunk still counts.
            if let Some(last) = deltas.last() {
                last.resource_version().clone_into(resource_version);
                sink.apply(deltas);
            }
            skipped.tell(&what, sink);
            taken.map_err(|error: ItemError| error.about(&what))?;
        }
        if !heard && began.elapsed() < TOO_SHORT {
            return Err(Error::TooShort { what });
        }
        Ok(())
    }
}

/// The outer error ends the watch, the inner one is about one object.
fn read_frame(encoder: &mut Encoder, line: &[u8]) -> Result<Result<Delta, RecordError>, ItemError> {
    let frame = Frame::parse(line)?;
    match frame.kind {
        FrameKind::Added | FrameKind::Modified => {
            Ok(encode(encoder, frame.object).map(Delta::Present))
        }
        FrameKind::Deleted => Ok(encode(encoder, frame.object).map(Delta::Gone)),
        FrameKind::Bookmark => {
            let bookmark = Bookmark::parse(frame.object)?;
            Ok(Ok(Delta::Reached(bookmark.resource_version)))
        }
        FrameKind::Error => {
            let status: Status = serde_json::from_slice(frame.object).unwrap_or_default();
            Err(ItemError::Refused(Box::new(status)))
        }
    }
}
