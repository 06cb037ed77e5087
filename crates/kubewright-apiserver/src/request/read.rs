use std::time::Duration;

use http::StatusCode;
use kubewright_core::Revision;
use kubewright_wire::status::Status;

use super::answer::ApiResponse;
use super::execute::ApiRequest;
use super::target::Target;
use crate::server::Server;

/// How long a read waits for a revision that has not happened yet.
const PATIENCE: Duration = Duration::from_secs(3);

/// One object, not older than the revision asked for.
pub(super) async fn get(
    server: &Server,
    target: &Target,
    request: &ApiRequest,
) -> Result<ApiResponse, Status> {
    let name = target.name()?;
    if let Some(text) = request
        .query
        .get("resourceVersion")
        .filter(|text| !text.is_empty())
    {
        let revision = parse_revision(text).map_err(Status::unknown)?;
        wait_for(server, revision).await?;
    }
    let object = server
        .store()
        .get(&target.key(name))
        .ok_or_else(|| target.not_found(name))?;
    Ok(ApiResponse::object(StatusCode::OK, object))
}

/// Waits until the store has reached a revision; gives up where Kubernetes does.
pub(super) async fn wait_for(server: &Server, revision: Revision) -> Result<(), Status> {
    if server.store().revision() >= revision {
        return Ok(());
    }
    let mut revisions = server.revisions();
    let reached = revisions.wait_for(|current| *current >= revision);
    match tokio::time::timeout(PATIENCE, reached).await {
        Ok(_) => Ok(()),
        Err(_) => {
            let current = server.store().revision();
            Err(Status::revision_too_large(
                revision.number(),
                current.number(),
            ))
        }
    }
}

/// A revision in the parameters of a request, with the API server's message.
pub(super) fn parse_revision(text: &str) -> Result<Revision, String> {
    parse_unsigned(text).map_err(|why| format!("resourceVersion: Invalid value: {text:?}: {why}"))
}

/// A revision as Go's `strconv.ParseUint` reads it, with its message.
pub(super) fn parse_unsigned(text: &str) -> Result<Revision, String> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let why = match (digits, text.parse()) {
        (true, Ok(number)) => return Ok(Revision::new(number)),
        (true, Err(_)) => "value out of range",
        (false, _) => "invalid syntax",
    };
    Err(format!("strconv.ParseUint: parsing {text:?}: {why}"))
}
