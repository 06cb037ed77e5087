//! A single watch request, from its start to its end.

use std::time::Duration;

use bytes::Bytes;
use kubewright_wire::scan::ScanError;
use tokio::time::Instant;

use super::accept::{ReadVerb, accept};
use super::body_format::BodyFormat;
use super::collection::Collection;
use super::frame::WatchFrame;
use super::initial_state::InitialState;
use super::item_error::ItemError;
use super::record_reader::RecordReader;
use super::scanner::WatchScanner;
use super::sink::Sink;
use super::skipped::SkippedObjects;
use crate::Error;
use crate::client::{Query, ResponseStream, get_stream};
use crate::store::Delta;

/// The timeout of the response headers.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(30);
/// How long after its `timeoutSeconds` a server may end a watch.
const GRACE: Duration = Duration::from_secs(5);
/// How long a watch may be silent. A server sends a bookmark about every minute; if two are
/// missing, the connection is dead.
const IDLE_TIMEOUT: Duration = Duration::from_secs(150);
/// A watch that ends within this time and sends no frame is a failure.
const MIN_DURATION: Duration = Duration::from_secs(1);

/// What the sink has of a watched collection.
pub(super) enum WatchState {
    /// The watch begins with a streaming list, which is incomplete.
    Initial(InitialState),
    /// The sink has all changes up to this resourceVersion.
    Following(String),
}

impl WatchState {
    /// The state at the beginning of a streaming list.
    pub(super) fn initial() -> Self {
        Self::Initial(InitialState::new())
    }

    /// The name of the request in errors.
    fn what(&self, collection: &str) -> String {
        match self {
            Self::Initial(_) => format!("stream {collection}"),
            Self::Following(resource_version) => {
                format!("watch {collection} from revision {resource_version}")
            }
        }
    }

    fn query(&self) -> Query {
        let query = Query::new()
            .with("watch", true)
            .with("allowWatchBookmarks", true);
        match self {
            Self::Initial(_) => query
                .with("sendInitialEvents", true)
                .with("resourceVersionMatch", "NotOlderThan"),
            Self::Following(resource_version) => query.with("resourceVersion", resource_version),
        }
    }
}

/// How a watch ended.
pub(super) enum WatchEnd {
    /// The streaming list did not complete.
    Incomplete(Error),
    /// The sink has all changes up to this resourceVersion, from which the next watch continues.
    Reached {
        resource_version: String,
        result: Result<(), Error>,
    },
}

/// Sends one watch request and hands its events to the sink until the watch ends. A streaming list
/// replaces the content of the sink when it is complete.
pub(super) async fn watch(
    collection: &mut Collection,
    mut state: WatchState,
    timeout: Duration,
    sink: &mut impl Sink,
) -> WatchEnd {
    let what = state.what(&collection.spec.what());
    let result = follow(collection, &mut state, timeout, sink).await;
    match (state, result) {
        (WatchState::Following(resource_version), result) => WatchEnd::Reached {
            resource_version,
            result,
        },
        (WatchState::Initial(_), Err(error)) => WatchEnd::Incomplete(error),
        (WatchState::Initial(initial), Ok(())) => {
            let items = initial.len();
            WatchEnd::Incomplete(ItemError::Scan(ScanError::Cut { items }).about(&what))
        }
    }
}

async fn follow(
    collection: &mut Collection,
    state: &mut WatchState,
    timeout: Duration,
    sink: &mut impl Sink,
) -> Result<(), Error> {
    let start = Instant::now();
    let Collection {
        client,
        spec,
        options,
        reader,
    } = collection;
    let what = state.what(&spec.what());
    let query = state.query().with("timeoutSeconds", timeout.as_secs());
    let accept = accept(spec, ReadVerb::Watch, &options.protobuf);
    let response = get_stream(client, &what, &spec.path(query), accept, RESPONSE_TIMEOUT).await?;
    let format = reader.format(&response);
    let mut stream = WatchStream {
        what,
        format,
        reader,
        state,
        deadline: start + timeout + GRACE,
        has_frames: false,
    };
    let scanner = WatchScanner::new(format, options.largest_object);
    stream.read(response, scanner, sink).await?;
    let is_following = matches!(stream.state, WatchState::Following(_));
    if is_following && !stream.has_frames && start.elapsed() < MIN_DURATION {
        return Err(Error::WatchTooShort { what: stream.what });
    }
    Ok(())
}

/// A watch whose response is being read.
struct WatchStream<'a> {
    what: String,
    format: BodyFormat,
    reader: &'a mut RecordReader,
    state: &'a mut WatchState,
    deadline: Instant,
    has_frames: bool,
}

/// The content of one chunk of a watch.
#[derive(Default)]
struct Batch {
    deltas: Vec<Delta>,
    skipped: SkippedObjects,
}

impl WatchStream<'_> {
    async fn read(
        &mut self,
        mut response: ResponseStream,
        mut scanner: WatchScanner,
        sink: &mut impl Sink,
    ) -> Result<(), Error> {
        while let Some(chunk) = self.next_chunk(&mut response).await? {
            let mut batch = Batch::default();
            let scanned = scanner.push(&chunk, |item| {
                self.has_frames = true;
                let frame = WatchFrame::read(self.reader, self.format, item)?;
                self.handle(frame, &mut batch, sink);
                Ok(())
            });
            // The frames before a malformed frame of the same chunk are valid.
            self.apply(batch.deltas, sink);
            batch.skipped.report(&self.what, sink);
            scanned.map_err(|error| error.about(&self.what))?;
        }
        Ok(())
    }

    fn handle(&mut self, frame: WatchFrame, batch: &mut Batch, sink: &mut impl Sink) {
        match (frame, &mut *self.state) {
            (WatchFrame::Delta(delta), WatchState::Initial(initial)) => initial.apply(delta, sink),
            (WatchFrame::Delta(delta), WatchState::Following(_)) => batch.deltas.push(delta),
            (WatchFrame::Unreadable(error), WatchState::Initial(initial)) => {
                initial.skipped.add(error);
            }
            (WatchFrame::Unreadable(error), WatchState::Following(_)) => batch.skipped.add(error),
            (WatchFrame::InitialStateEnd(resource_version), WatchState::Initial(_)) => {
                let following = WatchState::Following(resource_version.clone());
                if let WatchState::Initial(initial) = std::mem::replace(self.state, following) {
                    initial.finish(&self.what, &resource_version, sink);
                }
            }
            (WatchFrame::InitialStateEnd(resource_version), WatchState::Following(_)) => {
                batch.deltas.push(Delta::Bookmark(resource_version));
            }
        }
    }

    fn apply(&mut self, deltas: Vec<Delta>, sink: &mut impl Sink) {
        if let Some(last) = deltas.last() {
            *self.state = WatchState::Following(last.resource_version().to_owned());
            sink.apply(deltas);
        }
    }

    async fn next_chunk(&self, response: &mut ResponseStream) -> Result<Option<Bytes>, Error> {
        let WatchState::Initial(initial) = &*self.state else {
            let deadline = self.deadline.min(Instant::now() + IDLE_TIMEOUT);
            return response.chunk(deadline).await;
        };
        let stalled = || Error::StreamingListStalled {
            what: self.what.clone(),
            after: initial.stalled_for(),
        };
        // Frames without a new object can arrive forever.
        if initial.deadline() <= Instant::now() {
            return Err(stalled());
        }
        match response.chunk(initial.deadline()).await {
            Err(Error::TimedOut { .. }) => Err(stalled()),
            chunk => chunk,
        }
    }
}
