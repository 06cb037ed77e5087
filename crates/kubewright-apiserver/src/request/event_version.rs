use std::sync::Arc;

use kubewright_core::{Kind, Verb};
use kubewright_wire::status::Status;
use serde_json::{Map, Value};

use super::execute::{ApiRequest, Content, PatchKind};
use super::{ApiBody, ApiResponse};
use crate::store::Object;

const STORED: &str = "v1";
const SHOWN: &str = "events.k8s.io/v1";

/// What a field of an Event is called in events.k8s.io/v1 and in v1, the version that is stored
/// (pkg/apis/events/v1/conversion.go).
const NAMES: [(&str, &str); 7] = [
    ("note", "message"),
    ("regarding", "involvedObject"),
    ("reportingController", "reportingComponent"),
    ("deprecatedSource", "source"),
    ("deprecatedFirstTimestamp", "firstTimestamp"),
    ("deprecatedLastTimestamp", "lastTimestamp"),
    ("deprecatedCount", "count"),
];

/// Whether objects of the kind are stored in another version, under other names.
pub(super) fn is_event(kind: &Kind) -> bool {
    kind.group() == "events.k8s.io" && kind.kind == "Event"
}

/// The same request about the version that is stored.
pub(super) fn to_stored(mut request: ApiRequest) -> Result<ApiRequest, Status> {
    let names_fields = matches!(
        request.patch,
        Some(PatchKind::Json | PatchKind::Apply | PatchKind::StrategicMerge)
    );
    if request.route.verb == Verb::Watch
        || names_fields
        || request.query.get("fieldSelector").is_some()
    {
        return Err(Status::not_implemented(
            "events.k8s.io/v1 serves no watch, no field selector and no patch but a merge patch \
             yet; use v1",
        ));
    }
    request.route.group = String::new();
    request.route.version = "v1".to_owned();
    let is_body = matches!(
        request.route.verb,
        Verb::Create | Verb::Update | Verb::Patch
    );
    if is_body {
        let value = match &request.content {
            Content::Empty => return Ok(request),
            Content::Value(value) => value.clone(),
            Content::Json(bytes) => serde_json::from_slice(bytes)
                .map_err(|error| Status::bad_request(error.to_string()))?,
            Content::Yaml(_) => {
                return Err(Status::not_implemented(
                    "events.k8s.io/v1 takes no YAML yet; send JSON",
                ));
            }
        };
        request.content = Content::Value(renamed(value, STORED, |(shown, stored)| (shown, stored)));
    }
    Ok(request)
}

/// The answer in the version that was asked for.
pub(super) fn to_shown(mut response: ApiResponse) -> ApiResponse {
    response.body = match response.body {
        ApiBody::Object(object) => ApiBody::Object(shown(&object)),
        ApiBody::List(mut list) => {
            list.head
                .insert("apiVersion".to_owned(), Value::from(SHOWN));
            list.items = list.items.iter().map(shown).collect();
            ApiBody::List(list)
        }
        other => other,
    };
    response
}

fn shown(object: &Arc<Object>) -> Arc<Object> {
    let value = renamed(object.value().clone(), SHOWN, |(shown, stored)| {
        (stored, shown)
    });
    Arc::new(Object::encoded(value, object.revision()))
}

fn renamed(
    value: Value,
    version: &str,
    direction: fn((&'static str, &'static str)) -> (&'static str, &'static str),
) -> Value {
    let Value::Object(mut fields) = value else {
        return value;
    };
    let mut moved = Map::new();
    for (from, to) in NAMES.map(direction) {
        if let Some(value) = fields.remove(from) {
            moved.insert(to.to_owned(), value);
        }
    }
    fields.append(&mut moved);
    if let Some(named) = fields.get_mut("apiVersion") {
        *named = Value::from(version);
    }
    Value::Object(fields)
}
