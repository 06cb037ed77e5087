use bytes::Bytes;
use http::header::X_CONTENT_TYPE_OPTIONS;
use http::{HeaderValue, Response, StatusCode};
use kubewright_wire::route::Query;

use crate::request::{ServerBody, with_type};

/// What is looked at, by the names that the real server has for it: whether it answers, whether
/// it can say what it does, and whether its store does. There is nothing here that could fail and
/// still answer.
const ALIVE: &[&str] = &["ping", "log", "etcd"];
const READY: &[&str] = &[
    "ping",
    "log",
    "etcd",
    "etcd-readiness",
    "informer-sync",
    "shutdown",
];

/// Answers `/healthz`, `/livez`, `/readyz` and the single checks below them; none for a check
/// that there is not (k8s.io/apiserver/pkg/server/healthz).
pub(super) fn answer(endpoint: &str, rest: &[&str], query: &Query) -> Option<Response<ServerBody>> {
    let checks = match endpoint {
        "readyz" => READY,
        _ => ALIVE,
    };
    match rest {
        [] => Some(all(endpoint, checks, query)),
        [check] if checks.contains(check) => Some(plain("ok".to_owned())),
        _ => None,
    }
}

fn all(endpoint: &str, checks: &[&str], query: &Query) -> Response<ServerBody> {
    let mut response = plain(match query.get("verbose") {
        None => "ok".to_owned(),
        Some(_) => verbose(endpoint, checks, query),
    });
    let nosniff = HeaderValue::from_static("nosniff");
    let headers = response.headers_mut();
    headers.insert(X_CONTENT_TYPE_OPTIONS, nosniff);
    response
}

fn verbose(endpoint: &str, checks: &[&str], query: &Query) -> String {
    let mut excluded: Vec<&str> = query.all("exclude").collect();
    excluded.sort_unstable();
    excluded.dedup();
    let mut text = String::new();
    for check in checks {
        let verdict = match excluded.contains(check) {
            true => " excluded: ok",
            false => " ok",
        };
        text += &format!("[+]{check}{verdict}\n");
    }
    excluded.retain(|name| !checks.contains(name));
    if !excluded.is_empty() {
        let names: Vec<String> = excluded.iter().map(|name| format!("{name:?}")).collect();
        let names = names.join(",");
        text += &format!("warn: some health checks cannot be excluded: no matches for {names}\n");
    }
    text + &format!("{endpoint} check passed\n")
}

fn plain(text: String) -> Response<ServerBody> {
    let body = ServerBody::whole(Bytes::from(text));
    with_type(StatusCode::OK, "text/plain; charset=utf-8", body)
}
