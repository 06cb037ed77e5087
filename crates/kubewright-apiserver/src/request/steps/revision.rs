//! Revisions in the parameters and objects of requests.

use std::time::Duration;

use kubewright_core::Revision;
use kubewright_wire::status::Status;

use crate::store::Store;

/// How long a read waits for a revision in the future, as in Kubernetes.
const WAIT_TIMEOUT: Duration = Duration::from_secs(3);

/// Waits until the store has reached a revision.
pub(crate) async fn wait_for(store: &Store, revision: Revision) -> Result<(), Status> {
    if store.revision() >= revision {
        return Ok(());
    }
    let mut revisions = store.revisions();
    let reached = revisions.wait_for(|current| *current >= revision);
    if tokio::time::timeout(WAIT_TIMEOUT, reached).await.is_ok() {
        return Ok(());
    }
    let current = store.revision();
    Err(Status::revision_too_large(
        revision.number(),
        current.number(),
    ))
}

/// Parses the parameter `resourceVersion`, with the error of the API server.
pub(crate) fn parse_revision(text: &str) -> Result<Revision, String> {
    parse_unsigned(text).map_err(|why| format!("resourceVersion: Invalid value: {text:?}: {why}"))
}

/// Parses a revision as Go's `strconv.ParseUint` does, with its error.
pub(crate) fn parse_unsigned(text: &str) -> Result<Revision, String> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let why = match text.parse() {
        Ok(number) if is_number => return Ok(Revision::new(number)),
        _ if is_number => "value out of range",
        _ => "invalid syntax",
    };
    Err(format!("strconv.ParseUint: parsing {text:?}: {why}"))
}
