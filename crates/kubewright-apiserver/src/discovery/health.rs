//! `/healthz`, `/livez` and `/readyz`.

use bytes::Bytes;
use http::header::X_CONTENT_TYPE_OPTIONS;
use http::{HeaderValue, Response, StatusCode};
use kubewright_wire::route::Query;

use crate::encoding::text_response;

/// The checks, by their names in Kubernetes.
const ALIVE: &[&str] = &["ping", "log", "etcd"];
const READY: &[&str] = &["ping", "log", "etcd", STORE, "informer-sync", "shutdown"];
/// Whether objects can be stored: the only check that can fail while requests are served.
const STORE: &str = "etcd-readiness";

/// Whether a path begins with this segment of a health endpoint.
pub(super) fn is_endpoint(segment: &str) -> bool {
    matches!(segment, "healthz" | "livez" | "readyz")
}

/// Responds to `/healthz`, `/livez`, `/readyz` and the single checks below them
/// (k8s.io/apiserver/pkg/server/healthz); none for an unknown check. `failure` is the reason why
/// objects cannot be stored.
pub(super) fn respond(
    endpoint: &str,
    rest: &[&str],
    query: &Query,
    failure: Option<&str>,
) -> Option<Response<Bytes>> {
    let checks = match endpoint {
        "readyz" => READY,
        _ => ALIVE,
    };
    match rest {
        [] => Some(all(endpoint, checks, query, failure)),
        [check] if checks.contains(check) => Some(match failure.filter(|_| *check == STORE) {
            None => text_response(StatusCode::OK, "ok"),
            Some(why) => failed(format!("internal server error: {why}\n")),
        }),
        _ => None,
    }
}

fn all(endpoint: &str, checks: &[&str], query: &Query, failure: Option<&str>) -> Response<Bytes> {
    let is_checked = checks.contains(&STORE) && !query.all("exclude").any(|name| name == STORE);
    let reported = failure.filter(|_| is_checked);
    let mut response = match (reported, query.get("verbose")) {
        (Some(_), _) => failed(verbose(endpoint, checks, query, reported)),
        (None, None) => text_response(StatusCode::OK, "ok"),
        (None, Some(_)) => text_response(StatusCode::OK, verbose(endpoint, checks, query, None)),
    };
    let nosniff = HeaderValue::from_static("nosniff");
    let headers = response.headers_mut();
    headers.insert(X_CONTENT_TYPE_OPTIONS, nosniff);
    response
}

fn verbose(endpoint: &str, checks: &[&str], query: &Query, failure: Option<&str>) -> String {
    let mut excluded: Vec<&str> = query.all("exclude").collect();
    excluded.sort_unstable();
    excluded.dedup();
    let mut text = String::new();
    for check in checks {
        text += &match failure.filter(|_| *check == STORE) {
            Some(why) => format!("[-]{check} failed: {why}\n"),
            None if excluded.contains(check) => format!("[+]{check} excluded: ok\n"),
            None => format!("[+]{check} ok\n"),
        };
    }
    excluded.retain(|name| !checks.contains(name));
    if !excluded.is_empty() {
        let quoted: Vec<String> = excluded.iter().map(|name| format!("{name:?}")).collect();
        text += &format!(
            "warn: some health checks cannot be excluded: no matches for {}\n",
            quoted.join(",")
        );
    }
    let verdict = if failure.is_some() {
        "failed"
    } else {
        "passed"
    };
    text + &format!("{endpoint} check {verdict}\n")
}

fn failed(text: String) -> Response<Bytes> {
    text_response(StatusCode::INTERNAL_SERVER_ERROR, text)
}
