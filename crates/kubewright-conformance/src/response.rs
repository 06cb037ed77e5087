//! The parts of a response that are compared.

use std::collections::BTreeMap;

use http::HeaderMap;
use serde_json::{Value, json};

/// The parts of a response that are compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    /// The request in the case.
    pub request: String,
    /// The status code.
    pub status: u16,
    /// The compared headers.
    pub headers: BTreeMap<String, Vec<String>>,
    /// The body: a value, the events of a watch, or text.
    pub body: Value,
}

/// The headers whose values are compared.
const HEADERS: [&str; 6] = [
    "cache-control",
    "content-encoding",
    "content-type",
    "retry-after",
    "vary",
    "warning",
];
/// The headers whose presence is compared; their values differ in each response.
const PRESENT: [&str; 2] = ["audit-id", "etag"];

impl Response {
    pub(super) fn new(request: &str, status: u16, headers: &HeaderMap, body: &[u8]) -> Self {
        let chosen = HEADERS.iter().filter_map(|name| {
            let values: Vec<String> = headers
                .get_all(*name)
                .iter()
                .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
                .collect();
            (!values.is_empty()).then(|| ((*name).to_owned(), values))
        });
        let present = PRESENT.iter().filter(|name| headers.contains_key(**name));
        let present = present.map(|name| ((*name).to_owned(), vec!["present".to_owned()]));
        Self {
            request: request.to_owned(),
            status,
            headers: chosen.chain(present).collect(),
            body: parse_body(body),
        }
    }

    /// Keeps only these parts of the body (JSON pointers); without any, the whole body is kept.
    pub(super) fn only(mut self, pointers: &[String]) -> Self {
        if !pointers.is_empty() {
            let part = |pointer: &String| {
                let part = self.body.pointer(pointer).cloned();
                (pointer.clone(), part.unwrap_or_default())
            };
            self.body = Value::Object(pointers.iter().map(part).collect());
        }
        self
    }
}

fn parse_body(body: &[u8]) -> Value {
    if let Ok(value) = serde_json::from_slice(body) {
        return value;
    }
    let text = String::from_utf8_lossy(body);
    let events: Result<Vec<Value>, _> = text.lines().map(serde_json::from_str).collect();
    match events {
        Ok(events) if !events.is_empty() => json!({ "events": events }),
        _ => json!({ "text": text }),
    }
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderValue};
    use serde_json::json;

    use super::{Response, parse_body};

    #[test]
    fn some_headers_are_compared_and_some_only_by_presence() {
        let headers = HeaderMap::from_iter(
            [("audit-id", "1"), ("date", "today"), ("vary", "Accept")].map(|(name, value)| {
                let name = http::HeaderName::from_static(name);
                (name, HeaderValue::from_static(value))
            }),
        );
        let response = Response::new("GET /x", 200, &headers, b"");
        assert_eq!(
            json!(response.headers),
            json!({ "audit-id": ["present"], "vary": ["Accept"] })
        );
    }

    #[test]
    fn body_is_a_value_or_events_or_text() {
        assert_eq!(parse_body(b"{\"a\": 1}\n"), json!({ "a": 1 }));
        assert_eq!(
            parse_body(b"{\"a\":1}\n{\"a\":2}\n"),
            json!({ "events": [{ "a": 1 }, { "a": 2 }] })
        );
        assert_eq!(
            parse_body(b"404 page not found\n"),
            json!({ "text": "404 page not found\n" })
        );
        assert_eq!(parse_body(b""), json!({ "text": "" }));
    }
}
