use bytes::Bytes;
use http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode};
use kubewright_wire::route::Query;
use kubewright_wire::status::Status;
use ring::digest::{SHA256, digest};
use serde_json::Value;

use super::{aggregated, health, legacy, version};
use crate::catalog::builtins;
use crate::openapi;
use crate::request::{ServerBody, accepted, value_response, with_type};
use crate::server::Server;

/// Answers a request for a path that is no resource.
pub(crate) fn answer(
    server: &Server,
    parts: &Parts,
    path: &str,
) -> Result<Response<ServerBody>, Status> {
    let headers = &parts.headers;
    let segments: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    if !matches!(parts.method, Method::GET | Method::HEAD) {
        return match is_api(&segments) {
            true => Err(Status::method_not_supported()),
            false => Ok(page_not_found()),
        };
    }
    let value = match segments.as_slice() {
        [] => Some(legacy::paths(server)),
        ["version"] => Some(version::version()),
        [endpoint @ ("healthz" | "livez" | "readyz"), rest @ ..] => {
            let query = Query::parse(parts.uri.query().unwrap_or_default());
            let failure = server.store().failure();
            let health = health::answer(endpoint, rest, &query, failure.as_deref());
            return Ok(health.unwrap_or_else(page_not_found));
        }
        ["openapi", "v2"] => {
            return Err(Status::not_implemented(
                "/openapi/v2 is not implemented yet: ask for /openapi/v3",
            ));
        }
        ["openapi", "v3"] => Some(openapi::index(server)),
        ["openapi", "v3", rest @ ..] => {
            let found = match rest {
                ["api", version] => openapi::document(server, "", version),
                ["apis", group, version] => openapi::document(server, group, version),
                _ => None,
            };
            let Some(document) = found else {
                return Ok(nothing());
            };
            let mut response = value_response(StatusCode::OK, &document, accepted(headers)?);
            tag(response.headers_mut(), &etag(&document));
            return Ok(response);
        }
        ["api" | "apis"] if wants_aggregated(headers) => {
            return Ok(aggregated_answer(server, headers, path));
        }
        ["api"] => Some(legacy::core_versions()),
        ["apis"] => Some(legacy::groups(server)),
        ["api", version] => legacy::resources(server, "", version),
        ["apis", group] => legacy::group(server, group),
        ["apis", group, version] => legacy::resources(server, group, version),
        _ => None,
    };
    match value {
        Some(value) => Ok(value_response(StatusCode::OK, &value, accepted(headers)?)),
        None if is_api(&segments) => Err(Status::unknown_resource()),
        None => Ok(page_not_found()),
    }
}

/// Whether a path lies where the server has an API: in the core group or in one it knows.
fn is_api(segments: &[&str]) -> bool {
    match segments {
        ["api", ..] | ["apis"] => true,
        ["apis", group, ..] => builtins().has_group(group),
        _ => false,
    }
}

/// Clients that know the aggregated form ask for it first.
fn wants_aggregated(headers: &HeaderMap) -> bool {
    let accepts = headers.get_all(ACCEPT).iter();
    accepts
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|range| {
            let has = |part: &str| range.split(';').any(|one| one.trim() == part);
            has("g=apidiscovery.k8s.io") && has("v=v2") && has("as=APIGroupDiscoveryList")
        })
}

fn aggregated_answer(server: &Server, headers: &HeaderMap, path: &str) -> Response<ServerBody> {
    let value = match path.trim_matches('/') {
        "api" => aggregated::core(),
        _ => aggregated::groups(server),
    };
    let etag = etag(&value);
    let known = headers
        .get(IF_NONE_MATCH)
        .and_then(|value| value.to_str().ok());
    let mut response = match known == Some(etag.as_str()) {
        true => {
            let mut response = Response::new(ServerBody::whole(Bytes::new()));
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            response
        }
        false => Response::new(ServerBody::whole(value.to_string())),
    };
    let headers = response.headers_mut();
    let media_type = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("public"));
    tag(headers, &etag);
    response
}

/// By which a client knows an answer again, and what it depends on.
fn tag(headers: &mut HeaderMap, etag: &str) {
    headers.insert(VARY, HeaderValue::from_static("Accept"));
    if let Ok(etag) = HeaderValue::from_str(etag) {
        headers.insert(ETAG, etag);
    }
}

fn etag(value: &Value) -> String {
    let digest = digest(&SHA256, value.to_string().as_bytes());
    let hex: String = digest
        .as_ref()
        .iter()
        .map(|byte| format!("{byte:02X}"))
        .collect();
    format!("\"{hex}\"")
}

/// How the real server says that there is no such document.
fn nothing() -> Response<ServerBody> {
    let mut response = Response::new(ServerBody::whole(Bytes::new()));
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
}

fn page_not_found() -> Response<ServerBody> {
    let body = ServerBody::whole(Bytes::from_static(b"404 page not found\n"));
    with_type(StatusCode::NOT_FOUND, "text/plain; charset=utf-8", body)
}
