use std::collections::BTreeSet;
use std::time::Duration;

use http::header::{CACHE_CONTROL, CONTENT_TYPE, USER_AGENT, WARNING};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use http_body::Body;
use kubewright_core::Verb;
use kubewright_wire::route::{Query, ResourceRoute, Route};
use kubewright_wire::status::Status;
use kubewright_wire::yaml;
use serde_json::Value;
use tokio::time::timeout;

use super::execute::{ApiRequest, Content};
use super::negotiate::{Asked, BodyType, Format, accepted, body_type, negotiated, patch_kind};
use super::receive::Received;
use super::{ApiBody, ApiResponse, ServerBody, Warnings, gzip};
use crate::discovery;
use crate::may::{Envelope, Refusal};
use crate::server::Server;
use crate::table::Form;
use crate::who::{Credentials, User};

const LONGEST_WARNINGS: usize = 4096;
const SHORTENED_WARNING: usize = 256;
const AUDIT_ID: &str = "audit-id";
/// How long a request may take that reads or writes (`--request-timeout` and
/// `requestTimeoutUpperBound` of k8s.io/apiserver).
const READ_TIMEOUT: Duration = Duration::from_secs(60);
const WRITE_TIMEOUT: Duration = Duration::from_secs(34);

/// Answers an HTTP request, whatever it is.
pub(super) async fn respond<B>(
    server: &Server,
    credentials: &Credentials,
    request: Request<B>,
) -> Response<ServerBody>
where
    B: Body + Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let (parts, body) = request.into_parts();
    let audit_id = parts.headers.get(AUDIT_ID).cloned();
    let wants_gzip = gzip::is_wanted(&parts);
    let format = accepted(&parts.headers).unwrap_or(Format::Json);
    let mut response = match steps(server, credentials, parts, body).await {
        Ok(response) if wants_gzip => gzip::compress(response),
        Ok(response) => response,
        Err(status) => failure(&status, format),
    };
    let headers = response.headers_mut();
    let audit_id = audit_id
        .or_else(|| HeaderValue::from_str(&server.random().uid()).ok())
        .unwrap_or(HeaderValue::from_static("unknown"));
    headers.insert(AUDIT_ID, audit_id);
    headers
        .entry(CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-cache, private"));
    response
}

/// The steps from an HTTP request to its answer.
async fn steps<B>(
    server: &Server,
    credentials: &Credentials,
    parts: Parts,
    body: B,
) -> Result<Response<ServerBody>, Status>
where
    B: Body + Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let route = Route::parse(&parts.method, parts.uri.path(), parts.uri.query());
    let envelope = Envelope {
        method: &parts.method,
        route: &route,
        headers: &parts.headers,
    };
    let user = server
        .access()
        .who(credentials, envelope, server.clock().now())?;
    if let Some(refused) = refused(server, &user, envelope, &parts).await? {
        return Ok(refused);
    }
    match route {
        Route::Path(path) => discovery::answer(server, &parts, &path),
        Route::Resource(route) => {
            let query = Query::parse(parts.uri.query().unwrap_or_default());
            let asked = match route.verb {
                Verb::List | Verb::Watch => Asked::Collection,
                _ => Asked::Object,
            };
            let (format, form) = negotiated(&parts.headers, &query, asked)?;
            let (mut request, received) = read(server, user, route, &parts, body).await?;
            request.form = form;
            let warnings = request.warnings.clone();
            let limit = match request.route.verb {
                Verb::Watch => None,
                Verb::Get | Verb::List => Some(READ_TIMEOUT),
                _ => Some(WRITE_TIMEOUT),
            };
            let mut response = match within(limit, server.execute(request)).await {
                Ok(response) => encode(response, format),
                Err(status) => failure(&status, format),
            };
            drop(received);
            warn(response.headers_mut(), &warnings.texts());
            Ok(response)
        }
    }
}

/// Waits for a request as long as Kubernetes does; what is still done for it then is interrupted.
async fn within<T>(
    limit: Option<Duration>,
    request: impl Future<Output = Result<T, Status>>,
) -> Result<T, Status> {
    let Some(limit) = limit else {
        return request.await;
    };
    match timeout(limit, request).await {
        Ok(done) => done,
        Err(_) => Err(Status::timeout(
            "request did not complete within requested timeout - context deadline exceeded",
        )),
    }
}

/// Whether the user may do what is asked for; the answer when nobody could say so.
async fn refused(
    server: &Server,
    user: &User,
    envelope: Envelope<'_>,
    parts: &Parts,
) -> Result<Option<Response<ServerBody>>, Status> {
    let verb = envelope.verb();
    let query = Query::parse(parts.uri.query().unwrap_or_default());
    let request = match envelope.route {
        Route::Resource(route) => Some((route, &query)),
        Route::Path(_) => None,
    };
    let asked = envelope.attributes(user, &verb);
    match server.authorize(&asked, request).await {
        Ok(()) => Ok(None),
        Err(Refusal::Forbidden(status)) => Err(*status),
        Err(Refusal::Failed(why)) => {
            let uri = parts.uri.path_and_query().map_or("/", |uri| uri.as_str());
            let text = format!("Internal Server Error: {uri:?}: {why}\n");
            let code = StatusCode::INTERNAL_SERVER_ERROR;
            let body = ServerBody::whole(text);
            Ok(Some(with_type(code, "text/plain; charset=utf-8", body)))
        }
    }
}

/// The request, and the room that its body takes until it is answered.
async fn read<B>(
    server: &Server,
    user: User,
    route: ResourceRoute,
    parts: &Parts,
    body: B,
) -> Result<(ApiRequest, Received), Status>
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
        None => Received::default(),
        Some(_) => server.body_room().receive(body).await?,
    };
    let bytes = received.bytes.clone();
    let content = match body_type {
        // Options may be left out.
        Some(BodyType::Protobuf) if parts.method != Method::DELETE || !bytes.is_empty() => {
            Content::Protobuf(bytes)
        }
        Some(BodyType::Json) if !bytes.is_empty() => Content::Json(bytes),
        Some(BodyType::Yaml) if !bytes.is_empty() => Content::Yaml(bytes),
        Some(_) | None => Content::Empty,
    };
    let agent = parts.headers.get(USER_AGENT);
    let agent = agent.and_then(|value| value.to_str().ok());
    let request = ApiRequest {
        user,
        route,
        query: Query::parse(parts.uri.query().unwrap_or_default()),
        patch,
        content,
        form: Form::Whole,
        user_agent: agent.unwrap_or_default().to_owned(),
        warnings: Warnings::default(),
    };
    Ok((request, received))
}

/// The last step: an answer in the form that the client accepts.
pub(crate) fn encode(response: ApiResponse, format: Format) -> Response<ServerBody> {
    let code = response.code;
    match response.body {
        ApiBody::Text(text) => {
            with_type(code, "text/plain; charset=utf-8", ServerBody::whole(text))
        }
        ApiBody::Watch(watch) => with_type(code, "application/json", ServerBody::watch(*watch)),
        ApiBody::List(list) if format == Format::Json => {
            with_type(code, "application/json", ServerBody::list(list))
        }
        ApiBody::Object(object) if format == Format::Json => with_type(
            code,
            "application/json",
            ServerBody::whole(object.bytes().clone()),
        ),
        ApiBody::List(list) => {
            let items = list.items.iter().map(|object| object.value().clone());
            let items = items.collect();
            let mut value = list.head;
            value.insert("items".to_owned(), Value::Array(items));
            value_response(code, &Value::Object(value), format)
        }
        ApiBody::Object(object) => value_response(code, object.value(), format),
        ApiBody::Value(value) => value_response(code, &value, format),
        ApiBody::Status(status) => {
            let value = serde_json::to_value(&*status).unwrap_or_default();
            value_response(code, &value, format)
        }
    }
}

/// A value that is no stored object, such as discovery.
pub(crate) fn value_response(
    code: StatusCode,
    value: &Value,
    format: Format,
) -> Response<ServerBody> {
    let (media_type, text) = match format {
        Format::Json => ("application/json", value.to_string()),
        Format::Yaml => ("application/yaml", yaml::to_string(value)),
    };
    with_type(code, media_type, ServerBody::whole(text))
}

pub(crate) fn with_type(
    code: StatusCode,
    media_type: &'static str,
    body: ServerBody,
) -> Response<ServerBody> {
    let mut response = Response::new(body);
    *response.status_mut() = code;
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}

/// A failure as a response of its own, for clients of which nothing is known.
pub(crate) fn failure_response(status: &Status) -> Response<ServerBody> {
    failure(status, Format::Json)
}

fn failure(status: &Status, format: Format) -> Response<ServerBody> {
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
            .insert(http::header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

/// One header per warning, none twice; when they are long together, each is cut, and what comes
/// when the room is used up is left out
/// (k8s.io/apiserver/pkg/endpoints/filters/warning.go).
fn warn(headers: &mut HeaderMap, warnings: &[String]) {
    let mut seen = BTreeSet::new();
    let texts: Vec<&String> = warnings
        .iter()
        .filter(|text| !text.is_empty() && seen.insert(text.as_str()))
        .collect();
    let total: usize = texts.iter().map(|text| text.chars().count()).sum();
    let mut spent = 0;
    for text in texts {
        if spent >= LONGEST_WARNINGS {
            return;
        }
        let text: String = match total > LONGEST_WARNINGS {
            true => text.chars().take(SHORTENED_WARNING).collect(),
            false => text.clone(),
        };
        spent += text.chars().count();
        let quoted = text.replace('\\', "\\\\").replace('"', "\\\"");
        let printable: String = quoted.chars().filter(|c| !c.is_control()).collect();
        if let Ok(value) = HeaderValue::from_bytes(format!("299 - \"{printable}\"").as_bytes()) {
            headers.append(WARNING, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;
    use http::header::WARNING;

    use kubewright_wire::status::Status;
    use tokio::time::Instant;

    use super::{WRITE_TIMEOUT, warn, within};

    #[tokio::test(start_paused = true)]
    async fn request_that_does_not_end_times_out_as_in_kubernetes() {
        let begun = Instant::now();
        let never = std::future::pending::<Result<(), Status>>();
        let status = within(Some(WRITE_TIMEOUT), never).await.unwrap_err();
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

    fn warnings(texts: Vec<String>) -> Vec<usize> {
        let mut headers = HeaderMap::new();
        warn(&mut headers, &texts);
        let values = headers.get_all(WARNING).iter();
        values.map(|value| value.len()).collect()
    }

    #[test]
    fn warnings_are_cut_and_end_when_their_room_is_used_up() {
        let long = |n: usize| format!("{n:0300}");
        let frame = "299 - \"\"".len();
        assert_eq!(warnings(vec![long(1), long(1), long(2)]), [300 + frame; 2]);
        let many = (0..50_000).map(long).collect();
        assert_eq!(warnings(many), [256 + frame; 16]);
    }
}
