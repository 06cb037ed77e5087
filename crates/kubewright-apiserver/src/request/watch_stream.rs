//! A watch: the changes of a collection as a stream of events.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use kubewright_core::Revision;
use kubewright_wire::schema::Schema;
use kubewright_wire::status::Status;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until};

use super::api::Api;
use super::list::select_all;
use super::settled::settled;
use super::steps::{Selection, version, wait_for};
use super::target::Target;
use super::workers::Place;
use crate::store::{Change, ChangeKind, Changes, Object};
use crate::table::Shaper;

const BOOKMARK_PERIOD: Duration = Duration::from_secs(60);
/// The timeout of a watch whose own would overflow.
const MAX_TIMEOUT: Duration = Duration::from_secs(365 * 24 * 60 * 60);
/// About the size of the chunks in which events are sent. A slow reader holds no more than one
/// chunk, or one object.
const CHUNK_BYTES: usize = 256 * 1024;

/// The changes of a collection, as one JSON object per line. Nothing is buffered for a slow reader:
/// it reads the store's log later, and gets an error when the log no longer holds what it needs.
pub struct Watch {
    api: Arc<Api>,
    target: Target,
    selection: Selection,
    changes: Changes,
    /// Read from the log and not sent yet.
    pending: Vec<Arc<Change>>,
    start: Start,
    sends_bookmarks: bool,
    next_bookmark: Instant,
    end: Instant,
    /// Transforms the objects of events into tables or metadata.
    shaper: Option<Shaper>,
}

/// What the watch sends before the changes.
enum Start {
    /// The current state, once it is not older than the revision.
    State(Revision),
    /// The rest of the current state.
    Initial(std::vec::IntoIter<Arc<Object>>),
    /// Nothing.
    Done,
    /// The watch has ended.
    Ended,
}

/// The current state of a collection.
struct State {
    revision: Revision,
    objects: Vec<Arc<Object>>,
}

/// What a watch sends.
pub(super) struct WatchStart {
    /// The revision after which changes are sent.
    pub(super) from: Revision,
    /// Sends the current state first, once it is not older than this revision.
    pub(super) state: Option<Revision>,
    pub(super) sends_bookmarks: bool,
    pub(super) timeout: Duration,
}

impl Watch {
    pub(super) fn new(
        api: Arc<Api>,
        target: Target,
        selection: Selection,
        start: &WatchStart,
    ) -> Self {
        let now = Instant::now();
        let changes = api
            .store
            .watch_resource_from(&target.resource.id, start.from);
        Self {
            api,
            target,
            selection,
            changes,
            pending: Vec::new(),
            start: start.state.map_or(Start::Done, Start::State),
            sends_bookmarks: start.sends_bookmarks,
            next_bookmark: now + BOOKMARK_PERIOD,
            end: now.checked_add(start.timeout).unwrap_or(now + MAX_TIMEOUT),
            shaper: None,
        }
    }

    /// Transforms the objects of events.
    pub(crate) fn shape(&mut self, shaper: Shaper) {
        self.shaper = Some(shaper);
    }

    /// The next events; none at the end.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when this is dropped: events are sent only when it returns.
    pub async fn next(&mut self) -> Option<Bytes> {
        loop {
            let lines = match &mut self.start {
                Start::Ended => return None,
                Start::State(revision) => {
                    let revision = *revision;
                    match wait_for(&self.api.store, revision).await {
                        Ok(()) => self.take_state().await,
                        Err(status) => self.fail(&status),
                    }
                }
                Start::Initial(_) => self.initial(),
                Start::Done => self.next_changes().await,
            };
            if !lines.is_empty() {
                return Some(Bytes::from(lines));
            }
        }
    }

    async fn take_state(&mut self) -> Vec<u8> {
        let (api, target) = (Arc::clone(&self.api), self.target.clone());
        let selection = self.selection.clone();
        let read = Box::pin(async move { state(&api, &target, &selection).await });
        let store = &self.api.store;
        // Reads a whole collection, as a list does, and where lists are read.
        let work = self.api.workers.run(Place::Offloaded, read);
        match settled(store, work).await {
            Ok(state) => {
                self.changes = store.watch_resource_from(&self.target.resource.id, state.revision);
                self.start = Start::Initial(state.objects.into_iter());
                Vec::new()
            }
            Err(status) => self.fail(&status),
        }
    }

    fn initial(&mut self) -> Vec<u8> {
        let mut lines = Vec::new();
        let Start::Initial(objects) = &mut self.start else {
            return lines;
        };
        let mut rest = std::mem::take(objects);
        while lines.len() < CHUNK_BYTES {
            let Some(object) = rest.next() else {
                self.start = Start::Done;
                if self.sends_bookmarks {
                    let annotations = json!({"k8s.io/initial-events-end": "true"});
                    self.write_bookmark(&mut lines, Some(annotations));
                }
                return lines;
            };
            self.write_event(&mut lines, "ADDED", &object);
        }
        self.start = Start::Initial(rest);
        lines
    }

    async fn next_changes(&mut self) -> Vec<u8> {
        if !self.pending.is_empty() {
            return self.write_pending().await;
        }
        let changes = tokio::select! {
            biased;
            changes = self.changes.next() => changes,
            () = sleep_until(self.next_bookmark), if self.sends_bookmarks => {
                self.next_bookmark = Instant::now() + BOOKMARK_PERIOD;
                self.changes.now()
            }
            () = sleep_until(self.end) => {
                self.start = Start::Ended;
                return Vec::new();
            }
        };
        match changes {
            Ok(changes) if changes.is_empty() => {
                let mut lines = Vec::new();
                self.write_bookmark(&mut lines, None);
                lines
            }
            Ok(changes) => {
                self.pending = changes;
                self.write_pending().await
            }
            Err(compacted) => self.fail(&Status::expired(compacted.to_string())),
        }
    }

    /// When dropped, the next call writes these changes again.
    async fn write_pending(&mut self) -> Vec<u8> {
        let mut lines = Vec::new();
        let mut written = 0;
        while lines.len() < CHUNK_BYTES
            && let Some(change) = self.pending.get(written).cloned()
        {
            if let Err(status) = self.write_change(&mut lines, &change).await {
                self.pending.clear();
                lines.extend(self.fail(&status));
                return lines;
            }
            written += 1;
        }
        self.pending.drain(..written);
        lines
    }

    async fn write_change(&mut self, lines: &mut Vec<u8>, change: &Change) -> Result<(), Status> {
        let namespace = self.target.namespace.as_deref();
        if namespace.is_some() && change.key.namespace() != namespace {
            return Ok(());
        }
        let is_selected =
            |object: &Arc<Object>| self.selection.matches(&self.target.restored(object));
        let matched = change.before.as_ref().filter(|before| is_selected(before));
        let matches = change.kind != ChangeKind::Deleted && is_selected(&change.after);
        let (event, object) = match (matched, matches) {
            (None, false) => return Ok(()),
            (None, true) => ("ADDED", Arc::clone(&change.after)),
            (Some(_), true) => ("MODIFIED", Arc::clone(&change.after)),
            (Some(_), false) if change.kind == ChangeKind::Deleted => {
                ("DELETED", Arc::clone(&change.after))
            }
            // The object is no longer selected: the event has its last selected state, at the
            // revision of the change.
            (Some(before), false) => {
                let deselected = Object::new(before.value().clone(), change.revision());
                ("DELETED", Arc::new(deselected))
            }
        };
        let object = version::in_request(&self.api, &self.target, object).await?;
        self.write_event(lines, event, &object);
        Ok(())
    }

    fn write_bookmark(&mut self, lines: &mut Vec<u8>, annotations: Option<Value>) {
        let kind = self.target.kind();
        let mut metadata = json!({"resourceVersion": self.changes.position().to_string()});
        if let Some(annotations) = annotations {
            metadata["annotations"] = annotations;
        }
        // Kubernetes sends an empty object of the kind, with the fields that it always writes.
        let zero = match self.target.resource.custom() {
            Some(_) => None,
            None => Schema::builtin().kind(kind).map(|schema| schema.zero()),
        };
        let mut object = zero.filter(Value::is_object).unwrap_or_else(|| json!({}));
        object["kind"] = json!(kind.kind);
        object["apiVersion"] = json!(kind.api_version());
        object["metadata"] = metadata;
        if let Some(shaper) = &mut self.shaper {
            object = shaper.event(&object, self.api.clock.now());
        }
        write_line(lines, "BOOKMARK", object.to_string().as_bytes());
    }

    fn write_event(&mut self, lines: &mut Vec<u8>, event: &str, object: &Object) {
        match &mut self.shaper {
            None => write_line(lines, event, object.bytes()),
            Some(shaper) => {
                let shaped = shaper.event(object.value(), self.api.clock.now());
                write_line(lines, event, shaped.to_string().as_bytes());
            }
        }
    }

    /// The event of an error, which ends the watch.
    fn fail(&mut self, status: &Status) -> Vec<u8> {
        self.start = Start::Ended;
        let object = serde_json::to_value(status).unwrap_or_default();
        let mut lines = json!({"type": "ERROR", "object": object})
            .to_string()
            .into_bytes();
        lines.push(b'\n');
        lines
    }
}

/// The selected objects of a collection in the version of the request.
async fn state(api: &Api, target: &Target, selection: &Selection) -> Result<State, Status> {
    let selected = select_all(target, selection, &api.store.snapshot());
    Ok(State {
        revision: selected.revision,
        objects: version::all_in_request(api, target, selected.items).await?,
    })
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch")
            .field("target", &self.target)
            .field("position", &self.changes.position())
            .finish_non_exhaustive()
    }
}

fn write_line(lines: &mut Vec<u8>, event: &str, object: &[u8]) {
    lines.extend_from_slice(b"{\"type\":\"");
    lines.extend_from_slice(event.as_bytes());
    lines.extend_from_slice(b"\",\"object\":");
    lines.extend_from_slice(object);
    lines.extend_from_slice(b"}\n");
}
