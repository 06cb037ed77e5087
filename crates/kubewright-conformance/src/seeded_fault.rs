//! Faults that are injected between a case and its cluster, to test that the suite detects them.

use std::collections::BTreeMap;
use std::fmt;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{Method, Request, Response, StatusCode, Uri};
use kube::Client;
use kubewright_wire::route::Route;
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::exchange::exchange;

/// A difference of a server from Kubernetes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SeededFault {
    /// A write that changes nothing creates a revision.
    NoOpCreatesRevision,
    /// A watch with a selector reports `MODIFIED` where it should report `DELETED`.
    SelectorKeepsObject,
    /// A field that an apply no longer contains is not removed.
    ApplyKeepsRemoved,
    /// A list with a limit ignores the exact revision.
    LimitIsNotExact,
    /// A watch from a compacted revision fails with 410 instead of an `ERROR` event.
    ExpiredWatchFails,
    /// A delete ignores the uid in its preconditions.
    UidIsIgnored,
    /// Reads of custom resources lack the defaults that were added after the write.
    DefaultsMissOnRead,
    /// A rule with resource names permits create.
    NamesPermitCreate,
    /// A watch reports `MODIFIED` before the `DELETED` of an object that had finalizers.
    DeletionIsModifiedFirst,
    /// A write of the status subresource also writes the spec.
    StatusWritesSpec,
}

impl SeededFault {
    /// Every fault.
    pub const ALL: [Self; 10] = [
        Self::NoOpCreatesRevision,
        Self::SelectorKeepsObject,
        Self::ApplyKeepsRemoved,
        Self::LimitIsNotExact,
        Self::ExpiredWatchFails,
        Self::UidIsIgnored,
        Self::DefaultsMissOnRead,
        Self::NamesPermitCreate,
        Self::DeletionIsModifiedFirst,
        Self::StatusWritesSpec,
    ];
}

/// Sends requests with a fault.
pub(crate) struct Decorator {
    fault: SeededFault,
    administrator: Client,
    /// The state of the fault: objects or apply configurations by path.
    memory: Mutex<BTreeMap<String, Value>>,
}

impl fmt::Debug for Decorator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decorator")
            .field("fault", &self.fault)
            .finish_non_exhaustive()
    }
}

type Exchanged = Result<Response<Bytes>, kube::Error>;

impl Decorator {
    pub(crate) fn new(fault: SeededFault, administrator: Client) -> Self {
        Self {
            fault,
            administrator,
            memory: Mutex::default(),
        }
    }

    pub(crate) async fn exchange(&self, client: &Client, request: Request<Vec<u8>>) -> Exchanged {
        match self.fault {
            SeededFault::NoOpCreatesRevision => self.touch_unchanged(client, request).await,
            SeededFault::ApplyKeepsRemoved => self.apply_merged(client, request).await,
            SeededFault::LimitIsNotExact => exchange(client, without_revision(request)).await,
            SeededFault::UidIsIgnored => exchange(client, without_uid(request)).await,
            SeededFault::DefaultsMissOnRead => self.read_as_written(client, request).await,
            SeededFault::NamesPermitCreate => self.create_by_name(client, request).await,
            SeededFault::StatusWritesSpec => write_spec(client, request).await,
            SeededFault::SelectorKeepsObject => {
                let has_selector = query(request.uri()).contains("labelSelector");
                let response = exchange(client, request).await?;
                Ok(if has_selector {
                    map_events(&response, modified_instead_of_deleted)
                } else {
                    response
                })
            }
            SeededFault::DeletionIsModifiedFirst => {
                let response = exchange(client, request).await?;
                Ok(map_events(&response, modified_before_deleted))
            }
            SeededFault::ExpiredWatchFails => {
                let response = exchange(client, request).await?;
                Ok(error_as_status(&response).unwrap_or(response))
            }
        }
    }

    /// Annotates an object after a write that did not change its revision.
    async fn touch_unchanged(&self, client: &Client, request: Request<Vec<u8>>) -> Exchanged {
        let is_write = [Method::PUT, Method::PATCH].contains(request.method());
        if !is_write || query(request.uri()).contains("dryRun") {
            return exchange(client, request).await;
        }
        let path = request.uri().path().to_owned();
        let before = exchange(&self.administrator, get(&path)).await?;
        let response = exchange(client, request).await?;
        let is_unchanged = revision(&before).is_some_and(|old| revision(&response) == Some(old));
        if !is_unchanged {
            return Ok(response);
        }
        let annotations = json!({ "metadata": { "annotations": { "seeded": "fault" } } });
        let touched = exchange(&self.administrator, merge_patch(&path, &annotations)).await?;
        let (parts, _) = response.into_parts();
        Ok(Response::from_parts(parts, touched.into_body()))
    }

    /// Applies a configuration together with what the same manager applied before.
    async fn apply_merged(&self, client: &Client, request: Request<Vec<u8>>) -> Exchanged {
        let content_type = request.headers().get(CONTENT_TYPE);
        let is_apply =
            content_type.is_some_and(|value| value.as_bytes().starts_with(b"application/apply"));
        let Ok(applied) = serde_json::from_slice::<Value>(request.body()) else {
            return exchange(client, request).await;
        };
        if !is_apply {
            return exchange(client, request).await;
        }
        let key = request.uri().to_string();
        let mut merged = self.memory.lock().get(&key).cloned().unwrap_or_default();
        merge(&mut merged, &applied);
        let body = merged.to_string().into_bytes();
        let response = exchange(client, request.map(|_| body)).await?;
        if response.status().is_success() {
            self.memory.lock().insert(key, merged);
        }
        Ok(response)
    }

    /// Returns an object as the response to its last write had it.
    async fn read_as_written(&self, client: &Client, request: Request<Vec<u8>>) -> Exchanged {
        let (method, path) = (request.method().clone(), request.uri().path().to_owned());
        let response = exchange(client, request).await?;
        let object = object(&response);
        let Some(name) = object["metadata"]["name"].as_str() else {
            return Ok(response);
        };
        if method == Method::GET {
            let written = self.memory.lock().get(&path).cloned();
            let written = written.filter(|written| {
                written["metadata"]["resourceVersion"] == object["metadata"]["resourceVersion"]
            });
            return Ok(match written {
                Some(written) => response.map(|_| Bytes::from(written.to_string())),
                None => response,
            });
        }
        let place = if method == Method::POST {
            format!("{path}/{name}")
        } else {
            path
        };
        self.memory.lock().insert(place, object);
        Ok(response)
    }

    /// Creates an object that the user may create only in a review that names it.
    async fn create_by_name(&self, client: &Client, request: Request<Vec<u8>>) -> Exchanged {
        let again = request.clone();
        let response = exchange(client, request).await?;
        if again.method() != Method::POST || response.status() != StatusCode::FORBIDDEN {
            return Ok(response);
        }
        let route = Route::parse(&Method::POST, again.uri().path(), None);
        let body: Value = serde_json::from_slice(again.body()).unwrap_or_default();
        let Some(route) = route.resource() else {
            return Ok(response);
        };
        let review = json!({ "spec": { "resourceAttributes": {
            "verb": "create", "group": route.group, "resource": route.plural,
            "namespace": route.namespace, "name": body["metadata"]["name"],
        } } });
        let path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
        let reviewed = exchange(client, send("POST", path, "application/json", &review)).await?;
        if object(&reviewed)["status"]["allowed"] == true {
            return exchange(&self.administrator, again).await;
        }
        Ok(response)
    }
}

/// Sends a write of a status to the whole object, too.
async fn write_spec(client: &Client, request: Request<Vec<u8>>) -> Exchanged {
    let (uri, method) = (request.uri().to_string(), request.method().clone());
    let is_write = [Method::PUT, Method::PATCH].contains(&method);
    if !is_write || !request.uri().path().ends_with("/status") {
        return exchange(client, request).await;
    }
    let mut whole = request.clone();
    *whole.uri_mut() = uri.replacen("/status", "", 1).parse().unwrap_or_default();
    if let Ok(mut object) = serde_json::from_slice::<Value>(whole.body())
        && let Some(metadata) = object["metadata"].as_object_mut()
    {
        metadata.remove("resourceVersion");
        *whole.body_mut() = object.to_string().into_bytes();
    }
    let response = exchange(client, request).await?;
    if !response.status().is_success() {
        return Ok(response);
    }
    let written = exchange(client, whole).await?;
    Ok(if written.status().is_success() {
        written
    } else {
        response
    })
}

fn without_revision(mut request: Request<Vec<u8>>) -> Request<Vec<u8>> {
    let parameters = query(request.uri());
    if parameters.contains("limit=") && !parameters.contains("continue=") {
        let kept: Vec<&str> = parameters
            .split('&')
            .filter(|parameter| !parameter.starts_with("resourceVersion"))
            .collect();
        let uri = format!("{}?{}", request.uri().path(), kept.join("&"));
        *request.uri_mut() = uri.parse().unwrap_or_default();
    }
    request
}

fn without_uid(request: Request<Vec<u8>>) -> Request<Vec<u8>> {
    let Ok(mut options) = serde_json::from_slice::<Value>(request.body()) else {
        return request;
    };
    let preconditions = options.get_mut("preconditions");
    if request.method() == Method::DELETE
        && let Some(preconditions) = preconditions.and_then(Value::as_object_mut)
    {
        preconditions.remove("uid");
        return request.map(|_| options.to_string().into_bytes());
    }
    request
}

/// The response of a watch with other events in place of each event.
fn map_events(response: &Response<Bytes>, map: fn(Value) -> Vec<Value>) -> Response<Bytes> {
    let lines = response.body().split_inclusive(|byte| *byte == b'\n');
    let body: Vec<u8> = lines
        .flat_map(|line| match serde_json::from_slice::<Value>(line) {
            Ok(event) if event["type"].is_string() && event["object"].is_object() => {
                let events = map(event).into_iter();
                events
                    .flat_map(|event| format!("{event}\n").into_bytes())
                    .collect()
            }
            _ => line.to_vec(),
        })
        .collect();
    response.clone().map(|_| Bytes::from(body))
}

fn modified_instead_of_deleted(mut event: Value) -> Vec<Value> {
    if event["type"] == "DELETED" {
        event["type"] = json!("MODIFIED");
    }
    vec![event]
}

fn modified_before_deleted(event: Value) -> Vec<Value> {
    let is_ended = event["object"]["metadata"]["deletionTimestamp"].is_string();
    if event["type"] != "DELETED" || !is_ended {
        return vec![event];
    }
    let mut modified = event.clone();
    modified["type"] = json!("MODIFIED");
    vec![modified, event]
}

/// The response of a watch that begins with an error, as a response that fails.
fn error_as_status(response: &Response<Bytes>) -> Option<Response<Bytes>> {
    let line = response.body().split(|byte| *byte == b'\n').next()?;
    let event: Value = serde_json::from_slice(line).ok()?;
    let code = event["object"]["code"].as_u64()?;
    if event["type"] != "ERROR" {
        return None;
    }
    let mut failed = response
        .clone()
        .map(|_| Bytes::from(event["object"].to_string()));
    *failed.status_mut() = StatusCode::from_u16(u16::try_from(code).ok()?).ok()?;
    Some(failed)
}

/// Merges objects; lists and scalars are replaced.
fn merge(into: &mut Value, from: &Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (name, value) in from {
                merge(into.entry(name.as_str()).or_insert(Value::Null), value);
            }
        }
        (into, from) => into.clone_from(from),
    }
}

fn query(uri: &Uri) -> &str {
    uri.query().unwrap_or_default()
}

fn object(response: &Response<Bytes>) -> Value {
    let is_success = response.status().is_success();
    let read = serde_json::from_slice(response.body()).ok();
    read.filter(|_| is_success).unwrap_or_default()
}

fn revision(response: &Response<Bytes>) -> Option<String> {
    let object = object(response);
    object["metadata"]["resourceVersion"]
        .as_str()
        .map(str::to_owned)
}

fn get(path: &str) -> Request<Vec<u8>> {
    let mut request = Request::new(Vec::new());
    *request.uri_mut() = path.parse().unwrap_or_default();
    request
}

fn merge_patch(path: &str, patch: &Value) -> Request<Vec<u8>> {
    send("PATCH", path, "application/merge-patch+json", patch)
}

fn send(method: &str, path: &str, content_type: &'static str, body: &Value) -> Request<Vec<u8>> {
    let mut request = get(path).map(|_| body.to_string().into_bytes());
    *request.method_mut() = method.parse().unwrap_or_default();
    request
        .headers_mut()
        .insert(CONTENT_TYPE, http::HeaderValue::from_static(content_type));
    request
}
