use std::time::Duration;

use kubewright_wire::scan::ScanError;
use tokio::time::Instant;

use super::form::{Form, WatchScanner};
use super::frame::{Told, read_frame};
use super::gathering::Gathering;
use super::intake::{Intake, ItemError, Skipped};
use super::spec::Asked;
use super::{InformerSpec, ReflectorOptions, Sink};
use crate::Error;
use crate::client::{Query, ResponseStream, get_stream};
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
    pub(super) intake: &'a mut Intake,
    /// How long the server shall keep it open.
    pub(super) length: Duration,
}

/// How a watch begins.
struct Beginning {
    what: String,
    query: Query,
    gathering: Option<Gathering>,
}

/// What one chunk of a watch says.
#[derive(Default)]
struct Batch {
    deltas: Vec<Delta>,
    skipped: Skipped,
}

/// A watch under way.
struct Stream<'a> {
    what: String,
    form: Form,
    intake: &'a mut Intake,
    /// The state that comes first, until it is whole.
    gathering: Option<Gathering>,
    deadline: Instant,
    heard: bool,
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
            .with("resourceVersion", &resource_version);
        let beginning = Beginning {
            what,
            query,
            gathering: None,
        };
        self.run(beginning, resource_version, sink).await
    }

    /// As [`Watch::follow`], beginning with the whole state, which replaces what the sink has once
    /// it is whole; `resource_version` is empty until then.
    pub(super) async fn follow_state(
        self,
        resource_version: &mut String,
        sink: &mut impl Sink,
    ) -> Result<(), Error> {
        resource_version.clear();
        let query = Query::new()
            .with("watch", true)
            .with("allowWatchBookmarks", true)
            .with("sendInitialEvents", true)
            .with("resourceVersionMatch", "NotOlderThan");
        let beginning = Beginning {
            what: format!("stream {}", self.spec.what()),
            query,
            gathering: Some(Gathering::new()),
        };
        self.run(beginning, resource_version, sink).await
    }

    async fn run(
        self,
        beginning: Beginning,
        resource_version: &mut String,
        sink: &mut impl Sink,
    ) -> Result<(), Error> {
        let began = Instant::now();
        let Beginning {
            what,
            query,
            gathering,
        } = beginning;
        let query = query.with("timeoutSeconds", self.length.as_secs());
        let path = self.spec.path(query);
        let accept = self.spec.accept(Asked::Watch, &self.options.protobuf);
        let response = get_stream(self.client, &what, &path, accept, PATIENCE).await?;
        let form = self.intake.form(&response);
        let mut stream = Stream {
            what,
            form,
            intake: self.intake,
            gathering,
            deadline: began + self.length + GRACE,
            heard: false,
        };
        let scanner = WatchScanner::new(form, self.options.largest_object);
        stream
            .read(response, scanner, resource_version, sink)
            .await?;
        if let Some(gathering) = stream.gathering {
            let (records, _) = gathering.finish();
            let items = records.len();
            return Err(ItemError::Scan(ScanError::Cut { items }).about(&stream.what));
        }
        if !stream.heard && began.elapsed() < TOO_SHORT {
            return Err(Error::WatchTooShort { what: stream.what });
        }
        Ok(())
    }
}

impl Stream<'_> {
    async fn read(
        &mut self,
        mut response: ResponseStream,
        mut scanner: WatchScanner,
        resource_version: &mut String,
        sink: &mut impl Sink,
    ) -> Result<(), Error> {
        while let Some(chunk) = self.next(&mut response).await? {
            let mut batch = Batch::default();
            let taken = scanner.push(&chunk, |frame| {
                self.heard = true;
                match read_frame(self.intake, self.form, frame)? {
                    Told::Complete(reached) => self.complete(reached, resource_version, sink),
                    told => self.take(told, &mut batch, sink),
                }
                Ok(())
            });
            // What came before a failure in the same chunk still counts.
            if let Some(last) = batch.deltas.last() {
                last.resource_version().clone_into(resource_version);
                sink.apply(batch.deltas);
            }
            batch.skipped.tell(&self.what, sink);
            taken.map_err(|error| error.about(&self.what))?;
        }
        Ok(())
    }

    /// One frame about an object, or about how far the watch has come.
    fn take(&mut self, told: Told, batch: &mut Batch, sink: &impl Sink) {
        match (told, &mut self.gathering) {
            (Told::Delta(delta), Some(gathering)) => {
                gathering.take(delta, |record| sink.held(record));
            }
            (Told::Delta(delta), None) => batch.deltas.push(delta),
            (Told::Complete(reached), _) => batch.deltas.push(Delta::Bookmark(reached)),
            (Told::Unreadable(error), Some(gathering)) => gathering.skipped.note(error),
            (Told::Unreadable(error), None) => batch.skipped.note(error),
        }
    }

    /// The state is whole.
    fn complete(&mut self, reached: String, resource_version: &mut String, sink: &mut impl Sink) {
        if let Some(gathering) = self.gathering.take() {
            let (records, skipped) = gathering.finish();
            sink.replace(records, &reached);
            skipped.tell(&self.what, sink);
            *resource_version = reached;
        }
    }

    async fn next(&self, response: &mut ResponseStream) -> Result<Option<bytes::Bytes>, Error> {
        let Some(gathering) = &self.gathering else {
            let deadline = self.deadline.min(Instant::now() + IDLE);
            return response.chunk(deadline).await;
        };
        let endless = || Error::StreamingListStalled {
            what: self.what.clone(),
            after: gathering.silence(),
        };
        // Frames that are no progress may keep coming.
        if gathering.deadline() <= Instant::now() {
            return Err(endless());
        }
        match response.chunk(gathering.deadline()).await {
            Err(Error::TimedOut { .. }) => Err(endless()),
            chunk => chunk,
        }
    }
}
