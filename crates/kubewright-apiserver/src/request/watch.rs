use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use kubewright_core::Revision;
use kubewright_wire::route::Query;
use kubewright_wire::schema::Schema;
use kubewright_wire::status::{Cause, Status};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until};

use super::answer::{ApiBody, ApiResponse};
use super::execute::ApiRequest;
use super::list::{list_options_invalid, select_all};
use super::read::{parse_revision, wait_for};
use super::select::Selection;
use super::target::Target;
use super::version;
use crate::seeded::SeededFault;
use crate::server::Server;
use crate::store::{Change, ChangeKind, Changes, Compacted, Object};
use crate::table::Shaper;

const BOOKMARK_PERIOD: Duration = Duration::from_secs(60);
/// A watch that names no end lives this long and up to twice as long.
const LIFETIME: Duration = Duration::from_secs(30 * 60);
/// What a client gets who asks for more time than there is.
const LONGEST_LIFETIME: Duration = Duration::from_secs(365 * 24 * 60 * 60);
/// About how large the pieces are in which events are sent, so that a reader who is slow holds no
/// more than one of them, or one object.
const PIECE: usize = 256 * 1024;

/// The changes of a collection, as one JSON object per line. Nothing is buffered for a reader who
/// is slow: it reads the store's log when it comes back, and is told when the log has moved on.
pub struct Watch {
    server: Server,
    target: Target,
    selection: Selection,
    changes: Changes,
    /// Taken from the log and not sent yet.
    pending: Vec<Arc<Change>>,
    start: Start,
    sends_bookmarks: bool,
    next_bookmark: Instant,
    end: Instant,
    /// How events are shown, where not as they are.
    shaper: Option<Shaper>,
}

/// What is still to come before the changes.
enum Start {
    /// The present state, once it is not older than the revision.
    State(Revision),
    /// The rest of the present state.
    Initial(std::vec::IntoIter<Arc<Object>>),
    /// Nothing.
    Done,
    /// The watch has ended.
    Ended,
}

struct WatchOptions {
    revision: Revision,
    sends_state: bool,
    sends_bookmarks: bool,
    timeout: Option<Duration>,
}

/// Opens a watch. Errors found here are answers; later ones are events of the stream.
pub(super) fn watch(
    server: &Server,
    target: &Target,
    request: &ApiRequest,
) -> Result<ApiResponse, Status> {
    let options = WatchOptions::parse(&request.query)?;
    let selection = Selection::parse(target, &request.query)?;
    let selection = selection.named(target.name.as_deref());
    let now = Instant::now();
    let spread = server.random().next() % LIFETIME.as_secs();
    let lifetime = options
        .timeout
        .unwrap_or(LIFETIME + Duration::from_secs(spread));
    let from = match (options.sends_state, options.revision.number()) {
        (false, 0) => server.store().revision(),
        _ => options.revision,
    };
    let mut changes = server.store().watch_resource_from(&target.served.id, from);
    if server.has(SeededFault::ExpiredIsRefused) {
        let expired = |why: Compacted| Status::expired(why.to_string());
        changes.now().map_err(expired)?;
    }
    Ok(ApiResponse::ok(ApiBody::Watch(Box::new(Watch {
        changes,
        pending: Vec::new(),
        server: server.clone(),
        target: target.clone(),
        selection,
        start: match options.sends_state {
            true => Start::State(options.revision),
            false => Start::Done,
        },
        sends_bookmarks: options.sends_bookmarks,
        next_bookmark: now + BOOKMARK_PERIOD,
        end: now.checked_add(lifetime).unwrap_or(now + LONGEST_LIFETIME),
        shaper: None,
    }))))
}

impl Watch {
    /// Has the events shown in another form.
    pub(crate) fn shape(&mut self, shaper: Shaper) {
        self.shaper = Some(shaper);
    }

    /// The next lines; none at the end.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when this is dropped: events count as sent only when it returns.
    pub async fn next(&mut self) -> Option<Bytes> {
        loop {
            let lines = match &mut self.start {
                Start::Ended => return None,
                Start::State(revision) => {
                    let revision = *revision;
                    match wait_for(&self.server, revision).await {
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
        let snapshot = self.server.store().snapshot();
        let state = select_all(&self.target, &self.selection, &snapshot);
        let store = self.server.store();
        self.changes = store.watch_resource_from(&self.target.served.id, snapshot.revision());
        match version::all_in_request(&self.server, &self.target, state.items).await {
            Ok(items) => {
                self.start = Start::Initial(items.into_iter());
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
        while lines.len() < PIECE {
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

    /// Dropped on its way, it writes the same changes again.
    async fn write_pending(&mut self) -> Vec<u8> {
        let mut lines = Vec::new();
        let mut written = 0;
        while lines.len() < PIECE
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
            (Some(_), false) if self.server.has(SeededFault::LeavingIsModified) => {
                ("MODIFIED", Arc::clone(&change.after))
            }
            (Some(_), false) if change.kind == ChangeKind::Deleted => {
                ("DELETED", Arc::clone(&change.after))
            }
            // It left the selection: the state that was selected, at the revision it left.
            (Some(before), false) => {
                let gone = Object::new(before.value().clone(), change.revision());
                ("DELETED", Arc::new(gone))
            }
        };
        let object = version::in_request(&self.server, &self.target, object).await?;
        self.write_event(lines, event, &object);
        Ok(())
    }

    fn write_bookmark(&mut self, lines: &mut Vec<u8>, annotations: Option<Value>) {
        let kind = self.target.kind();
        let mut metadata = json!({"resourceVersion": self.changes.position().to_string()});
        if let Some(annotations) = annotations {
            metadata["annotations"] = annotations;
        }
        // Kubernetes sends an empty object of the kind: what it always writes is there.
        let zero = match self.target.served.custom() {
            Some(_) => None,
            None => Schema::builtin().kind(kind).map(|schema| schema.zero()),
        };
        let mut object = zero.filter(Value::is_object).unwrap_or_else(|| json!({}));
        object["kind"] = json!(kind.kind);
        object["apiVersion"] = json!(kind.api_version());
        object["metadata"] = metadata;
        if let Some(shaper) = &mut self.shaper {
            object = shaper.event(&object, self.server.clock().now());
        }
        write_line(lines, "BOOKMARK", object.to_string().as_bytes());
    }

    fn write_event(&mut self, lines: &mut Vec<u8>, event: &str, object: &Object) {
        match &mut self.shaper {
            None => write_line(lines, event, object.bytes()),
            Some(shaper) => {
                let shown = shaper.event(object.value(), self.server.clock().now());
                write_line(lines, event, shown.to_string().as_bytes());
            }
        }
    }

    /// The event that tells of a failure, after which the watch is over.
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

impl WatchOptions {
    fn parse(query: &Query) -> Result<Self, Status> {
        let text = |name| query.get(name).filter(|value| !value.is_empty());
        let matching = text("resourceVersionMatch");
        let sends_initial = text("sendInitialEvents").map(|_| query.is_set("sendInitialEvents"));
        check_matching(matching, sends_initial)?;
        let revision = match text("resourceVersion") {
            Some(version) => parse_revision(version).map_err(Status::unknown)?,
            None => Revision::default(),
        };
        let timeout: Option<i64> = match text("timeoutSeconds") {
            Some(seconds) => Some(seconds.parse().map_err(|_| {
                let message = format!("strconv.ParseInt: parsing {seconds:?}: invalid syntax");
                Status::bad_request(message)
            })?),
            None => None,
        };
        Ok(Self {
            revision,
            // Without a revision a watch starts with the state, as if it had asked for it.
            sends_state: sends_initial.unwrap_or(revision.number() == 0),
            sends_bookmarks: query.is_set("allowWatchBookmarks"),
            timeout: timeout
                .and_then(|seconds| u64::try_from(seconds).ok())
                .filter(|seconds| *seconds > 0)
                .map(Duration::from_secs),
        })
    }
}

fn check_matching(matching: Option<&str>, sends_initial: Option<bool>) -> Result<(), Status> {
    let mut causes = Vec::new();
    let mut forbid = |why: &str| causes.push(Cause::forbidden("resourceVersionMatch", why));
    match (matching, sends_initial) {
        (None, None) | (Some("NotOlderThan"), Some(_)) => {}
        (Some(_), None) => forbid(
            "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
        ),
        (_, Some(_)) => {
            forbid("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
        }
    }
    if let Some(other) = matching.filter(|matching| *matching != "NotOlderThan") {
        let supported = ["NotOlderThan"];
        let cause = Cause::not_supported("resourceVersionMatch", &json!(other), &supported);
        causes.push(cause);
    }
    match causes.is_empty() {
        true => Ok(()),
        false => Err(list_options_invalid(causes)),
    }
}
