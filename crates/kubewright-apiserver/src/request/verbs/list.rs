//! Lists objects.

use kubewright_core::Revision;
use kubewright_wire::continue_token::ContinueToken;
use kubewright_wire::route::Query;
use kubewright_wire::status::{Cause, Status};
use serde_json::json;

use crate::request::api::Api;
use crate::request::list::{Page, select};
use crate::request::message::ApiRequest;
use crate::request::options::parse_integer;
use crate::request::response::{ApiBody, ApiResponse};
use crate::request::steps::{Selection, parse_revision, wait_for};
use crate::request::target::Target;
use crate::store::{Compacted, Snapshot};

const LIST_EXPIRED: &str = "The resourceVersion for the provided list is too old.";
const TOKEN_EXPIRED: &str = "The provided continue parameter is too old to display a consistent \
     list result. You can start a new list without the continue parameter, or use the continue \
     token in this response to retrieve the remainder of the results. Continuing with the \
     provided token results in an inconsistent list - objects that were created, modified, or \
     deleted between the time the first chunk was returned and now may show up in the list.";

/// The state that a list shows.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ListState {
    Latest,
    NotOlderThan(Revision),
    Exactly(Revision),
    Token(ContinueToken),
}

#[derive(Debug)]
struct ListOptions {
    state: ListState,
    limit: Option<usize>,
}

/// Lists the objects of a collection.
pub(crate) async fn list(
    api: &Api,
    target: &Target,
    request: &ApiRequest,
) -> Result<ApiResponse, Status> {
    let options = ListOptions::parse(&request.query)?;
    let selection = Selection::parse(target, &request.query)?;
    let (snapshot, start) = snapshot(api, target, &options.state).await?;
    let limit = options.limit;
    let list = select(target, &selection, &snapshot, &Page { start, limit });
    Ok(ApiResponse::ok(ApiBody::List(list)))
}

async fn snapshot(
    api: &Api,
    target: &Target,
    state: &ListState,
) -> Result<(Snapshot, Option<String>), Status> {
    let store = &api.store;
    match state {
        ListState::Latest => Ok((store.snapshot(), None)),
        ListState::NotOlderThan(revision) => {
            wait_for(store, *revision).await?;
            Ok((store.snapshot(), None))
        }
        ListState::Exactly(revision) => {
            wait_for(store, *revision).await?;
            let expired = |_: Compacted| Status::expired(LIST_EXPIRED);
            Ok((store.snapshot_at(*revision).map_err(expired)?, None))
        }
        ListState::Token(token) => {
            let start = match &target.namespace {
                Some(namespace) => format!("{namespace}/{}", token.start),
                None => token.start.clone(),
            };
            let snapshot = match token.revision {
                None => store.snapshot(),
                Some(revision) => store
                    .snapshot_at(Revision::new(revision))
                    .map_err(|_| expired_token(token))?,
            };
            Ok((snapshot, Some(start)))
        }
    }
}

fn expired_token(token: &ContinueToken) -> Status {
    let mut status = Status::expired(TOKEN_EXPIRED);
    status.metadata.continue_token = ContinueToken {
        revision: None,
        start: token.start.clone(),
    }
    .encode();
    status
}

impl ListOptions {
    /// Parses the parameters by the rules of `ValidateListOptions` and of the storage of Kubernetes.
    fn parse(query: &Query) -> Result<Self, Status> {
        let text = |name| query.get(name).filter(|value| !value.is_empty());
        let limit = text("limit")
            .map(parse_integer)
            .transpose()?
            .and_then(|limit| usize::try_from(limit).ok())
            .filter(|limit| *limit > 0);
        let version = text("resourceVersion");
        let matching = text("resourceVersionMatch");
        let token = text("continue");
        let mut causes = check_matching(version, matching, token);
        if text("sendInitialEvents").is_some() {
            let why = "sendInitialEvents is forbidden for list";
            causes.push(Cause::forbidden("sendInitialEvents", why));
        }
        if !causes.is_empty() {
            return Err(list_options_invalid(causes));
        }
        if let Some(token) = token {
            if version.is_some_and(|version| version != "0") {
                return Err(Status::bad_request(
                    "specifying resource version is not allowed when using continue",
                ));
            }
            let token = ContinueToken::decode(token)
                .map_err(|why| Status::bad_request(format!("invalid continue token: {why}")))?;
            return Ok(Self {
                state: ListState::Token(token),
                limit,
            });
        }
        let revision = version
            .map(parse_revision)
            .transpose()
            .map_err(|error| Status::bad_request(format!("invalid resource version: {error}")))?;
        let state = match (revision, matching) {
            (None, _) => ListState::Latest,
            (Some(revision), Some("Exact")) => ListState::Exactly(revision),
            // Any state is acceptable, and the limit is ignored.
            (Some(revision), _) if revision.number() == 0 => {
                return Ok(Self {
                    state: ListState::Latest,
                    limit: None,
                });
            }
            (Some(revision), None) if limit.is_some() => ListState::Exactly(revision),
            (Some(revision), _) => ListState::NotOlderThan(revision),
        };
        Ok(Self { state, limit })
    }
}

fn check_matching(
    version: Option<&str>,
    matching: Option<&str>,
    token: Option<&str>,
) -> Vec<Cause> {
    const FIELD: &str = "resourceVersionMatch";
    let mut causes = Vec::new();
    let Some(matching) = matching else {
        return causes;
    };
    if token.is_some() {
        let why = "resourceVersionMatch is forbidden when continue is provided";
        causes.push(Cause::forbidden(FIELD, why));
    }
    match version {
        None => {
            let why = "resourceVersionMatch is forbidden unless resourceVersion is provided";
            causes.push(Cause::forbidden(FIELD, why));
        }
        Some("0") if matching == "Exact" => {
            let why = "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"";
            causes.push(Cause::forbidden(FIELD, why));
        }
        Some(_) => {}
    }
    if !matches!(matching, "Exact" | "NotOlderThan") {
        let supported = ["Exact", "NotOlderThan", ""];
        causes.push(Cause::not_supported(FIELD, &json!(matching), &supported));
    }
    causes
}

pub(super) fn list_options_invalid(causes: Vec<Cause>) -> Status {
    Status::invalid_as("meta.k8s.io", "ListOptions", "", causes)
}

#[cfg(test)]
mod tests {
    use kubewright_core::Revision;
    use kubewright_wire::route::Query;

    use super::{ListOptions, ListState};

    fn parse(text: &str) -> Result<(ListState, Option<usize>), (u16, String)> {
        ListOptions::parse(&Query::parse(text))
            .map(|options| (options.state, options.limit))
            .map_err(|status| (status.code, status.message))
    }

    #[test]
    fn state_follows_from_revision_match_and_limit() {
        let five = Revision::new(5);
        for (text, wanted) in [
            ("", (ListState::Latest, None)),
            ("limit=2", (ListState::Latest, Some(2))),
            ("resourceVersion=0&limit=2", (ListState::Latest, None)),
            ("resourceVersion=5", (ListState::NotOlderThan(five), None)),
            (
                "resourceVersion=5&limit=2",
                (ListState::Exactly(five), Some(2)),
            ),
            (
                "resourceVersion=5&limit=2&resourceVersionMatch=NotOlderThan",
                (ListState::NotOlderThan(five), Some(2)),
            ),
            (
                "resourceVersion=5&resourceVersionMatch=Exact",
                (ListState::Exactly(five), None),
            ),
        ] {
            assert_eq!(parse(text), Ok(wanted), "{text}");
        }
    }

    #[test]
    fn contradictory_options_fail_with_the_messages_of_kubernetes() {
        for (text, code, message) in [
            (
                "resourceVersionMatch=Exact",
                422,
                "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: \
                 resourceVersionMatch is forbidden unless resourceVersion is provided",
            ),
            (
                "resourceVersion=0&resourceVersionMatch=Exact",
                422,
                "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: \
                 resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"",
            ),
            (
                "resourceVersion=5&continue=x",
                400,
                "specifying resource version is not allowed when using continue",
            ),
            (
                "resourceVersion=x",
                400,
                "invalid resource version: resourceVersion: Invalid value: \"x\": \
                 strconv.ParseUint: parsing \"x\": invalid syntax",
            ),
        ] {
            assert_eq!(parse(text), Err((code, message.to_owned())), "{text}");
        }
    }
}
