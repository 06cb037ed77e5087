//! Responses for paths outside the resources: discovery, OpenAPI, health, version.

use bytes::Bytes;
use http::header::{ACCEPT, CACHE_CONTROL, ETAG, IF_NONE_MATCH, VARY};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode};
use kubewright_wire::route::Query;
use kubewright_wire::status::Status;
use ring::digest::{SHA256, digest};
use serde_json::Value;

use super::served::ServedGroups;
use super::{aggregated, health, legacy, version};
use crate::encoding::{accepted, hex, response, text_response, value_response};
use crate::openapi;
use crate::resources::{Catalog, builtins};
use crate::store::Store;

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// Whether a path is about the health of the server, which does not depend on objects.
pub(crate) fn is_health(path: &str) -> bool {
    let mut segments = path.split('/').filter(|part| !part.is_empty());
    segments.next().is_some_and(health::is_endpoint)
}

/// Responds to a request for a path outside the resources.
pub(crate) fn respond(
    store: &Store,
    catalog: &Catalog,
    parts: &Parts,
    path: &str,
) -> Result<Response<Bytes>, Status> {
    let headers = &parts.headers;
    let segments: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    if !matches!(parts.method, Method::GET | Method::HEAD) {
        if is_api(&segments) {
            return Err(Status::method_not_supported());
        }
        return Ok(page_not_found());
    }
    let snapshot = store.snapshot();
    let served = ServedGroups::new(catalog, &snapshot);
    let value = match segments.as_slice() {
        [] => Some(legacy::paths(&served)),
        ["version"] => Some(version::version()),
        [endpoint, rest @ ..] if health::is_endpoint(endpoint) => {
            let query = Query::parse(parts.uri.query().unwrap_or_default());
            let failure = store.failure();
            let health = health::respond(endpoint, rest, &query, failure.as_deref());
            return Ok(health.unwrap_or_else(page_not_found));
        }
        ["openapi", "v2"] => {
            return Err(Status::not_implemented(
                "/openapi/v2 is not implemented yet: use /openapi/v3",
            ));
        }
        ["openapi", "v3"] => Some(openapi::index(catalog, &snapshot)),
        ["openapi", "v3", rest @ ..] => {
            let found = match rest {
                ["api", version] => openapi::document(catalog, &snapshot, "", version),
                ["apis", group, version] => openapi::document(catalog, &snapshot, group, version),
                _ => None,
            };
            let Some(document) = found else {
                return Ok(empty_not_found());
            };
            let mut response = value_response(StatusCode::OK, &document, accepted(headers)?);
            set_etag(response.headers_mut(), &etag(&document));
            return Ok(response);
        }
        ["api" | "apis"] if accepts_aggregated(headers) => {
            return Ok(aggregated_response(&served, headers, path));
        }
        ["api"] => Some(legacy::core_versions()),
        ["apis"] => Some(legacy::groups(&served)),
        ["api", version] => legacy::resources(&served, "", version),
        ["apis", group] => legacy::group(&served, group),
        ["apis", group, version] => legacy::resources(&served, group, version),
        _ => None,
    };
    match value {
        Some(value) => Ok(value_response(StatusCode::OK, &value, accepted(headers)?)),
        None if is_api(&segments) => Err(Status::unknown_resource()),
        None => Ok(page_not_found()),
    }
}

/// Whether a path is in the core group or in another built-in group.
fn is_api(segments: &[&str]) -> bool {
    match segments {
        ["api", ..] | ["apis"] => true,
        ["apis", group, ..] => builtins().has_group(group),
        _ => false,
    }
}

/// Whether a client accepts aggregated discovery.
fn accepts_aggregated(headers: &HeaderMap) -> bool {
    let accepts = headers.get_all(ACCEPT).iter();
    accepts
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|range| {
            let has = |parameter: &str| range.split(';').any(|part| part.trim() == parameter);
            has("g=apidiscovery.k8s.io") && has("v=v2") && has("as=APIGroupDiscoveryList")
        })
}

fn aggregated_response(
    served: &ServedGroups<'_>,
    headers: &HeaderMap,
    path: &str,
) -> Response<Bytes> {
    let value = match path.trim_matches('/') {
        "api" => aggregated::core(),
        _ => aggregated::groups(served),
    };
    let etag = etag(&value);
    let known = headers
        .get(IF_NONE_MATCH)
        .and_then(|value| value.to_str().ok());
    let mut response = if known == Some(etag.as_str()) {
        response(StatusCode::NOT_MODIFIED, AGGREGATED, Bytes::new())
    } else {
        response(StatusCode::OK, AGGREGATED, value.to_string())
    };
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("public"));
    set_etag(headers, &etag);
    response
}

fn set_etag(headers: &mut HeaderMap, etag: &str) {
    headers.insert(VARY, HeaderValue::from_static("Accept"));
    if let Ok(etag) = HeaderValue::from_str(etag) {
        headers.insert(ETAG, etag);
    }
}

fn etag(value: &Value) -> String {
    let digest = digest(&SHA256, value.to_string().as_bytes());
    format!("\"{}\"", hex(digest.as_ref()))
}

/// The 404 for an unknown OpenAPI document has no body.
fn empty_not_found() -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
}

fn page_not_found() -> Response<Bytes> {
    text_response(StatusCode::NOT_FOUND, &b"404 page not found\n"[..])
}
