//! Reads and writes objects of typed kinds.

use std::fmt::Debug;
use std::panic::Location;
use std::time::Duration;

use http::Request;
use kube::core::{ClusterResourceScope, NamespaceResourceScope, ObjectList};
use kube::{Resource, ResourceExt as _};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::failure::{Chain, fail};
use super::handle::Cluster;
use crate::ClusterChoice;

/// A kind that a test can read and write by its type.
pub trait Object:
    Resource<DynamicType = (), Scope: ObjectScope> + Clone + Debug + Serialize + DeserializeOwned
{
}

impl<K> Object for K where
    K: Resource<DynamicType = (), Scope: ObjectScope>
        + Clone
        + Debug
        + Serialize
        + DeserializeOwned
{
}

/// The scope of a kind, for kube's scope types.
pub trait ObjectScope {
    /// Whether objects are in namespaces.
    const NAMESPACED: bool;
}

impl ObjectScope for NamespaceResourceScope {
    const NAMESPACED: bool = true;
}

impl ObjectScope for ClusterResourceScope {
    const NAMESPACED: bool = false;
}

/// The field manager of the test's own writes.
const FIELD_MANAGER: &str = "kubewright-test";

const RETRY_INTERVAL: Duration = Duration::from_millis(100);
/// How long a server may take to serve a changed definition.
const DEFINITION_TIMEOUT: Duration = Duration::from_secs(10);

impl Cluster {
    /// Applies an object with server-side apply and `force`, and returns the stored object.
    ///
    /// # Panics
    ///
    /// When the request fails; the message contains the error of the server.
    ///
    /// # Cancel safety
    ///
    /// When dropped, the request may have been sent.
    #[track_caller]
    pub fn apply<K: Object>(&self, mut object: K) -> impl Future<Output = K> {
        let location = Location::caller();
        object.meta_mut().managed_fields = None;
        let path = self.object_path::<K>(object.meta().namespace.as_deref(), &object.name_any());
        async move {
            let body = body(location, &object);
            let is_new = !K::Scope::NAMESPACED && self.is_missing(&path).await;
            let call = Call {
                location,
                method: "APPLY",
                path: format!("{path}?fieldManager={FIELD_MANAGER}&force=true"),
            };
            let stored = self.expect(call, &body).await;
            if is_new {
                self.shared.backend.delete_at_end(&path);
            }
            stored
        }
    }

    /// Creates an object and returns the stored object.
    ///
    /// # Panics
    ///
    /// When the request fails; the message contains the error of the server.
    ///
    /// # Cancel safety
    ///
    /// When dropped, the request may have been sent.
    #[track_caller]
    pub fn create<K: Object>(&self, object: K) -> impl Future<Output = K> {
        let location = Location::caller();
        let path = self.collection_path::<K>(object.meta().namespace.as_deref());
        async move {
            let body = body(location, &object);
            let call = Call {
                location,
                method: "POST",
                path: format!("{path}?fieldManager={FIELD_MANAGER}"),
            };
            let stored: K = self.expect(call, &body).await;
            if !K::Scope::NAMESPACED {
                let path = format!("{path}/{}", stored.name_any());
                self.shared.backend.delete_at_end(&path);
            }
            stored
        }
    }

    /// Changes an object with a JSON merge patch and returns the stored object.
    ///
    /// # Panics
    ///
    /// When the request fails; the message contains the error of the server.
    ///
    /// # Cancel safety
    ///
    /// When dropped, the request may have been sent.
    #[track_caller]
    pub fn patch<K: Object>(&self, name: &str, patch: Value) -> impl Future<Output = K> {
        let location = Location::caller();
        let object = self.object_path::<K>(None, name);
        let path = format!("{object}?fieldManager={FIELD_MANAGER}");
        async move {
            let call = Call {
                location,
                method: "PATCH",
                path,
            };
            self.expect(call, &patch).await
        }
    }

    /// Deletes an object. It is not an error if the object does not exist.
    ///
    /// # Panics
    ///
    /// When the request fails; the message contains the error of the server.
    ///
    /// # Cancel safety
    ///
    /// When dropped, the request may have been sent.
    #[track_caller]
    pub fn delete<K: Object>(&self, name: &str) -> impl Future<Output = ()> {
        let location = Location::caller();
        let path = self.object_path::<K>(None, name);
        async move {
            match self.send("DELETE", &path, &json!({})).await {
                Ok(_) => {}
                Err(kube::Error::Api(status)) if status.code == 404 => {}
                Err(error) => fail(location, format_args!("DELETE {path}: {}", Chain(&error))),
            }
        }
    }

    /// The object with that name, if it exists.
    ///
    /// # Panics
    ///
    /// When the request fails or the object cannot be decoded.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when dropped.
    #[track_caller]
    pub fn get<K: Object>(&self, name: &str) -> impl Future<Output = Option<K>> {
        let location = Location::caller();
        let path = self.object_path::<K>(None, name);
        async move {
            let found = match self.read(&path).await {
                Ok(found) => Some(found),
                Err(kube::Error::Api(status)) if status.code == 404 => None,
                Err(error) => fail(location, format_args!("GET {path}: {}", Chain(&error))),
            };
            let state = found.as_ref().map_or_else(|| "not there".to_owned(), state);
            self.record_seen(format!("{} {state}", K::kind(&())));
            found.map(|value| decode(location, &path, value))
        }
    }

    /// All objects of a kind in the test's namespace; all objects in the cluster if the kind is
    /// cluster-scoped.
    ///
    /// # Panics
    ///
    /// When the request fails or an object cannot be decoded.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when dropped.
    #[track_caller]
    pub fn list<K: Object>(&self) -> impl Future<Output = Vec<K>> {
        let location = Location::caller();
        let path = self.collection_path::<K>(None);
        async move {
            let found = match self.read(&path).await {
                Ok(found) => found,
                Err(error) => fail(location, format_args!("GET {path}: {}", Chain(&error))),
            };
            let items = found["items"].as_array().map_or(&[][..], Vec::as_slice);
            let states: Vec<_> = items.iter().map(state).collect();
            let kind = K::kind(&());
            self.record_seen(format!("{} of {kind}: {}", items.len(), states.join(", ")));
            decode::<ObjectList<K>>(location, &path, found).items
        }
    }

    pub(super) async fn read(&self, path: &str) -> Result<Value, kube::Error> {
        let request = Request::get(path).body(Vec::new());
        self.client
            .request(request.map_err(kube::Error::HttpError)?)
            .await
    }

    pub(super) async fn send(
        &self,
        method: &str,
        path: &str,
        body: &Value,
    ) -> Result<Value, kube::Error> {
        let (method, content) = match method {
            "APPLY" => ("PATCH", "application/apply-patch+yaml"),
            "PATCH" => ("PATCH", "application/merge-patch+json"),
            other => (other, "application/json"),
        };
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("Content-Type", content)
            .body(body.to_string().into_bytes());
        self.client
            .request(request.map_err(kube::Error::HttpError)?)
            .await
    }

    /// Whether an object does not exist yet. Always `false` on a cluster that ends with the test.
    async fn is_missing(&self, path: &str) -> bool {
        if self.shared.backend.choice() != ClusterChoice::Existing {
            return false;
        }
        let found = self.read(path).await;
        matches!(found, Err(kube::Error::Api(status)) if status.code == 404)
    }

    async fn expect<K: DeserializeOwned>(&self, call: Call, body: &Value) -> K {
        let Call {
            location,
            method,
            path,
        } = call;
        let start = Instant::now();
        loop {
            match self.send(method, &path, body).await {
                Ok(response) => return decode(location, &path, response),
                Err(error)
                    if is_definition_changing(&error) && start.elapsed() < DEFINITION_TIMEOUT =>
                {
                    sleep(RETRY_INTERVAL).await;
                }
                Err(error) => fail(location, format_args!("{method} {path}: {}", Chain(&error))),
            }
        }
    }

    fn collection_path<K: Object>(&self, namespace: Option<&str>) -> String {
        let namespace = namespace.unwrap_or(&self.namespace);
        K::url_path(&(), K::Scope::NAMESPACED.then_some(namespace))
    }

    fn object_path<K: Object>(&self, namespace: Option<&str>, name: &str) -> String {
        format!("{}/{name}", self.collection_path::<K>(namespace))
    }

    /// Keeps the state of an object for the message when a wait times out.
    fn record_seen(&self, seen: String) {
        self.shared.seen.lock().push(seen);
    }
}

/// Whether a real server rejects a request because the definition of its kind has just changed
/// (`rejectRequest` of k8s.io/apiserver/pkg/server/filters/waitgroup.go).
fn is_definition_changing(error: &kube::Error) -> bool {
    let text = "apiserver is shutting down";
    matches!(error, kube::Error::Api(status) if status.code == 503 && status.message == text)
}

/// Whether an object has a condition with status `True`.
pub(super) fn is_condition_true(object: &Value, kind: &str) -> bool {
    let conditions = object["status"]["conditions"].as_array();
    let mut conditions = conditions.into_iter().flatten();
    conditions.any(|condition| condition["type"] == kind && condition["status"] == "True")
}

/// A request of a test.
struct Call {
    location: &'static Location<'static>,
    method: &'static str,
    path: String,
}

fn body(location: &Location<'_>, object: &impl Serialize) -> Value {
    match serde_json::to_value(object) {
        Ok(value) => value,
        Err(error) => fail(location, format_args!("write the object as JSON: {error}")),
    }
}

fn decode<T: DeserializeOwned>(location: &Location<'_>, path: &str, value: Value) -> T {
    match serde_json::from_value(value) {
        Ok(decoded) => decoded,
        Err(error) => fail(
            location,
            format_args!("decode the response to {path}: {error}"),
        ),
    }
}

/// The name of an object, its phase and the conditions that are not `True`.
fn state(object: &Value) -> String {
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    let mut words = Vec::new();
    if object["metadata"]["deletionTimestamp"].is_string() {
        words.push("terminating".to_owned());
    }
    words.extend(object["status"]["phase"].as_str().map(str::to_owned));
    let conditions = object["status"]["conditions"].as_array();
    for condition in conditions.into_iter().flatten() {
        let status = condition["status"].as_str().unwrap_or("?");
        if status != "True" {
            let kind = condition["type"].as_str().unwrap_or("?");
            words.push(format!("{kind}={status}"));
        }
    }
    if words.is_empty() {
        return name.to_owned();
    }
    format!("{name} ({})", words.join(", "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::state;

    #[test]
    fn state_has_the_phase_and_the_conditions_that_are_not_true() {
        let pod = json!({
            "metadata": { "name": "web", "deletionTimestamp": "2026-01-01T00:00:00Z" },
            "status": { "phase": "Running", "conditions": [
                { "type": "PodScheduled", "status": "True" },
                { "type": "Ready", "status": "False" },
            ] },
        });
        assert_eq!(state(&pod), "web (terminating, Running, Ready=False)");
        assert_eq!(state(&json!({ "metadata": { "name": "cm" } })), "cm");
    }
}
