//! Watches a collection.

use std::sync::Arc;
use std::time::Duration;

use kubewright_core::Revision;
use kubewright_wire::route::Query;
use kubewright_wire::status::{Cause, Status};
use serde_json::json;

use super::list::list_options_invalid;
use crate::request::api::Api;
use crate::request::message::ApiRequest;
use crate::request::options::parse_integer;
use crate::request::response::{ApiBody, ApiResponse};
use crate::request::steps::{Selection, parse_revision};
use crate::request::target::Target;
use crate::request::watch_stream::{Watch, WatchStart};

/// The timeout of a watch without one is this, and up to twice as much.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30 * 60);

struct WatchOptions {
    revision: Revision,
    sends_state: bool,
    sends_bookmarks: bool,
    timeout: Option<Duration>,
}

/// Opens a watch. Errors found here are responses; later ones are events of the stream.
pub(crate) fn watch(
    api: &Arc<Api>,
    target: &Target,
    request: &ApiRequest,
) -> Result<ApiResponse, Status> {
    let options = WatchOptions::parse(&request.query)?;
    let selection = Selection::parse(target, &request.query)?.named(target.name.as_deref());
    let spread = Duration::from_secs(api.random.next() % DEFAULT_TIMEOUT.as_secs());
    let is_from_now = !options.sends_state && options.revision == Revision::default();
    let start = WatchStart {
        from: if is_from_now {
            api.store.revision()
        } else {
            options.revision
        },
        state: options.sends_state.then_some(options.revision),
        sends_bookmarks: options.sends_bookmarks,
        timeout: options.timeout.unwrap_or(DEFAULT_TIMEOUT + spread),
    };
    let watch = Watch::new(Arc::clone(api), target.clone(), selection, &start);
    Ok(ApiResponse::ok(ApiBody::Watch(Box::new(watch))))
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
        let timeout = text("timeoutSeconds").map(parse_integer).transpose()?;
        Ok(Self {
            revision,
            // Without a revision a watch starts with the current state.
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
    if causes.is_empty() {
        return Ok(());
    }
    Err(list_options_invalid(causes))
}
