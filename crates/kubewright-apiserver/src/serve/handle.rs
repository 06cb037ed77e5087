//! The steps of an HTTP request: authentication, authorization, and the handler.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CACHE_CONTROL, RETRY_AFTER, USER_AGENT};
use http::request::Parts;
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body::Body;
use kubewright_core::Verb;
use kubewright_wire::route::{Query, ResourceRoute, Route};
use kubewright_wire::status::Status;
use tokio::time::timeout;

use super::body_budget::{BodyBudget, ReceivedBody};
use super::encode::encode;
use super::gzip;
use super::negotiate::{BodyType, body_type, negotiated, patch_kind};
use super::response_body::ServerBody;
use super::warning_headers::add_warnings;
use crate::authentication::{Credentials, User};
use crate::authorization::{AccessAttributes, Denied};
use crate::discovery;
use crate::encoding::{Format, Subject, accepted, text_response, value_response};
use crate::request::{Api, ApiRequest, Content, execute, settled};
use crate::table::Form;
use crate::warnings::Warnings;

const AUDIT_ID: &str = "audit-id";
/// The timeouts of requests that read and write (`--request-timeout` and
/// `requestTimeoutUpperBound` of k8s.io/apiserver).
const READ_TIMEOUT: Duration = Duration::from_secs(60);
const WRITE_TIMEOUT: Duration = Duration::from_secs(34);

/// Handles an HTTP request.
pub(super) async fn handle<B>(
    api: &Arc<Api>,
    bodies: &BodyBudget,
    credentials: &Credentials,
    request: Request<B>,
) -> Response<ServerBody>
where
    B: Body + Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let (parts, body) = request.into_parts();
    let sent_audit_id = parts.headers.get(AUDIT_ID).cloned();
    let accepts_gzip = gzip::is_accepted(&parts);
    let format = accepted(&parts.headers).unwrap_or(Format::Json);
    let mut response = match steps(api, bodies, credentials, parts, body).await {
        Ok(response) if accepts_gzip => gzip::compress(response),
        Ok(response) => response,
        Err(status) => failure(&status, format).map(ServerBody::whole),
    };
    let headers = response.headers_mut();
    let audit_id = sent_audit_id
        .or_else(|| HeaderValue::from_str(&api.random.uid()).ok())
        .unwrap_or(HeaderValue::from_static("unknown"));
    headers.insert(AUDIT_ID, audit_id);
    headers
        .entry(CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-cache, private"));
    response
}

async fn steps<B>(
    api: &Arc<Api>,
    bodies: &BodyBudget,
    credentials: &Credentials,
    parts: Parts,
    body: B,
) -> Result<Response<ServerBody>, Status>
where
    B: Body + Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let route = Route::parse(&parts.method, parts.uri.path(), parts.uri.query());
    let query = Query::parse(parts.uri.query().unwrap_or_default());
    let user = authenticate(api, credentials, &parts, &route)?;
    if let Some(failed) = authorize(api, &user, &parts, &route, &query).await? {
        return Ok(failed.map(ServerBody::whole));
    }
    let route = match route {
        Route::Path(path) => {
            let response = describe(api, &parts, &path).await?;
            return Ok(response.map(ServerBody::whole));
        }
        Route::Resource(route) => route,
    };
    let subject = match route.verb {
        Verb::List | Verb::Watch => Subject::Collection,
        _ => Subject::Object,
    };
    let (format, form) = negotiated(&parts.headers, &query, subject)?;
    let (mut request, received) = read(bodies, user, route, &parts, body).await?;
    request.query = query;
    request.form = form;
    let warnings = request.warnings.clone();
    let limit = match request.route.verb {
        Verb::Watch => None,
        Verb::Get | Verb::List => Some(READ_TIMEOUT),
        _ => Some(WRITE_TIMEOUT),
    };
    let mut response = match with_timeout(limit, execute(api, request)).await {
        Ok(response) => encode(response, format),
        Err(status) => failure(&status, format).map(ServerBody::whole),
    };
    drop(received);
    add_warnings(response.headers_mut(), &warnings.texts());
    Ok(response)
}

/// Responds to a request for a path outside the resources. Health does not wait for the disk.
async fn describe(api: &Api, parts: &Parts, path: &str) -> Result<Response<Bytes>, Status> {
    let respond = || discovery::respond(&api.store, &api.catalog, parts, path);
    if discovery::is_health(path) {
        return respond();
    }
    settled(&api.store, async { respond() }).await
}

/// Waits for a request until its timeout. Its work is interrupted then.
async fn with_timeout<T>(
    limit: Option<Duration>,
    request: impl Future<Output = Result<T, Status>>,
) -> Result<T, Status> {
    let Some(limit) = limit else {
        return request.await;
    };
    match timeout(limit, request).await {
        Ok(result) => result,
        Err(_) => Err(Status::timeout(
            "request did not complete within requested timeout - context deadline exceeded",
        )),
    }
}

/// The verb in roles; for paths outside the resources it is the method.
fn verb_of(method: &Method, route: &Route) -> String {
    match route {
        Route::Resource(route) => route.verb.to_string(),
        Route::Path(_) => method.as_str().to_ascii_lowercase(),
    }
}

/// The user that a request impersonates, or its sender.
fn authenticate(
    api: &Api,
    credentials: &Credentials,
    parts: &Parts,
    route: &Route,
) -> Result<User, Status> {
    let headers = &parts.headers;
    let now = api.clock.now();
    let sender = api.authenticator.authenticate(credentials, headers, now)?;
    let verb = verb_of(&parts.method, route);
    let attributes = AccessAttributes::of_route(&sender, &verb, route);
    api.authorizer.impersonate(headers, &attributes)
}

/// Checks that the user is allowed to send a request. Returns the response when the authorizer
/// failed.
async fn authorize(
    api: &Api,
    user: &User,
    parts: &Parts,
    route: &Route,
    query: &Query,
) -> Result<Option<Response<Bytes>>, Status> {
    let request = match route {
        Route::Resource(route) => Some((route, query)),
        Route::Path(_) => None,
    };
    let verb = verb_of(&parts.method, route);
    let attributes = AccessAttributes::of_route(user, &verb, route);
    match api.authorizer.authorize(&attributes, request).await {
        Ok(()) => Ok(None),
        Err(Denied::Forbidden(status)) => Err(*status),
        Err(Denied::Failed(why)) => {
            let uri = parts.uri.path_and_query().map_or("/", |uri| uri.as_str());
            let text = format!("Internal Server Error: {uri:?}: {why}\n");
            Ok(Some(text_response(StatusCode::INTERNAL_SERVER_ERROR, text)))
        }
    }
}

/// Reads a request. The memory of its body is held until the response.
async fn read<B>(
    bodies: &BodyBudget,
    user: User,
    route: ResourceRoute,
    parts: &Parts,
    body: B,
) -> Result<(ApiRequest, ReceivedBody), Status>
where
    B: Body + Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let mut patch = None;
    let body_type = match parts.method {
        Method::PATCH => {
            let (kind, body_type) = patch_kind(&parts.headers)?;
            patch = Some(kind);
            Some(body_type)
        }
        Method::POST | Method::PUT => Some(body_type(&parts.headers)?),
        // A delete without options needs no type.
        Method::DELETE => Some(body_type(&parts.headers).unwrap_or(BodyType::Json)),
        _ => None,
    };
    let received = match body_type {
        None => ReceivedBody::default(),
        Some(_) => bodies.read(body).await?,
    };
    let bytes = received.bytes.clone();
    let content = match body_type {
        // The options of a delete are optional.
        Some(BodyType::Protobuf) if parts.method != Method::DELETE || !bytes.is_empty() => {
            Content::Protobuf(bytes)
        }
        Some(BodyType::Json) if !bytes.is_empty() => Content::Json(bytes),
        Some(BodyType::Yaml) if !bytes.is_empty() => Content::Yaml(bytes),
        Some(_) | None => Content::Empty,
    };
    let user_agent = parts
        .headers
        .get(USER_AGENT)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let request = ApiRequest {
        user,
        route,
        query: Query::default(),
        patch,
        content,
        form: Form::Whole,
        user_agent: user_agent.to_owned(),
        warnings: Warnings::default(),
    };
    Ok((request, received))
}

/// The response for an error.
pub(super) fn failure(status: &Status, format: Format) -> Response<Bytes> {
    let code = StatusCode::from_u16(status.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let value = serde_json::to_value(status).unwrap_or_default();
    let mut response = value_response(code, &value, format);
    let seconds = status
        .details
        .as_ref()
        .map_or(0, |details| details.retry_after_seconds);
    if seconds > 0 {
        response
            .headers_mut()
            .insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

#[cfg(test)]
mod tests {
    use kubewright_wire::status::Status;
    use tokio::time::Instant;

    use super::{WRITE_TIMEOUT, with_timeout};

    #[tokio::test(start_paused = true)]
    async fn write_times_out_after_34_seconds() {
        let begun = Instant::now();
        let never = std::future::pending::<Result<(), Status>>();
        let status = with_timeout(Some(WRITE_TIMEOUT), never).await.unwrap_err();
        assert_eq!(begun.elapsed().as_secs(), 34);
        assert_eq!(
            (status.code, status.message.as_str()),
            (
                504,
                "Timeout: request did not complete within requested timeout - context deadline \
                 exceeded"
            )
        );
    }
}
