use std::time::Duration;

use kubewright_wire::record::Encoder;
use kubewright_wire::scan::{Bookmark, Frame, FrameKind, LineScanner};
use kubewright_wire::status::Status;
use tokio::time::Instant;

use super::list::ItemError;
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
            let taken = scanner.push(&chunk, |line| {
                deltas.push(read_frame(self.encoder, line)?);
                Ok(())
            });
            heard |= !deltas.is_empty();
            // What came before a failure in the same chunk still counts.
            if let Some(last) = deltas.last() {
                last.resource_version().clone_into(resource_version);
                sink.apply(deltas);
            }
            taken.map_err(|error: ItemError| error.about(&what))?;
        }
        if !heard && began.elapsed() < TOO_SHORT {
            return Err(Error::TooShort { what });
        }
        Ok(())
    }
}

fn read_frame(encoder: &mut Encoder, line: &[u8]) -> Result<Delta, ItemError> {
    let frame = Frame::parse(line)?;
    match frame.kind {
        FrameKind::Added | FrameKind::Modified => {
            let record = encoder.encode(frame.object).map_err(ItemError::Object)?;
            Ok(Delta::Present(record))
        }
        FrameKind::Deleted => {
            let record = encoder.encode(frame.object).map_err(ItemError::Object)?;
            Ok(Delta::Gone(record))
        }
        FrameKind::Bookmark => Ok(Delta::Reached(
            Bookmark::parse(frame.object)?.resource_version,
        )),
        FrameKind::Error => {
            let status: Status = serde_json::from_slice(frame.object).unwrap_or_default();
            Err(ItemError::Refused(Box::new(status)))
        }
    }
}
