use std::fmt::{self, Debug};
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
use crate::Choice;

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

/// Whether objects live in namespaces, as kube's scopes say it.
pub trait ObjectScope {
    /// Whether they do.
    const NAMESPACED: bool;
}

impl ObjectScope for NamespaceResourceScope {
    const NAMESPACED: bool = true;
}

impl ObjectScope for ClusterResourceScope {
    const NAMESPACED: bool = false;
}

/// Who the test's own writes belong to.
const FIELD_MANAGER: &str = "kubewright-test";

const POLL: Duration = Duration::from_millis(100);
/// How long a server may need for a changed definition.
const TAKEN_IN_WITHIN: Duration = Duration::from_secs(10);

impl Cluster {
    /// Applies an object (server-side apply, taking fields over) and answers it as stored.
    ///
    /// # Panics
    ///
    /// When the server refuses; the message holds its answer.
    ///
    /// # Cancel safety
    ///
    /// When dropped, the request may have been carried out or not.
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
                self.shared.backend.remember(&path);
            }
            stored
        }
    }

    /// Creates an object and answers it as stored.
    ///
    /// # Panics
    ///
    /// When the server refuses; the message holds its answer.
    ///
    /// # Cancel safety
    ///
    /// When dropped, the request may have been carried out or not.
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
                let made = format!("{path}/{}", stored.name_any());
                self.shared.backend.remember(&made);
            }
            stored
        }
    }

    /// Changes an object by a JSON merge patch and answers it as stored.
    ///
    /// # Panics
    ///
    /// When the server refuses; the message holds its answer.
    ///
    /// # Cancel safety
    ///
    /// When dropped, the request may have been carried out or not.
    #[track_caller]
    pub fn patch<K: Object>(&self, name: &str, patch: Value) -> impl Future<Output = K> {
        let location = Location::caller();
        let path = self.object_path::<K>(None, name);
        let path = format!("{path}?fieldManager={FIELD_MANAGER}");
        async move {
            let call = Call {
                location,
                method: "PATCH",
                path,
            };
            self.expect(call, &patch).await
        }
    }

    /// Deletes an object; one that is not there is fine.
    ///
    /// # Panics
    ///
    /// When the server refuses; the message holds its answer.
    ///
    /// # Cancel safety
    ///
    /// When dropped, the request may have been carried out or not.
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

    /// The object of that name, if there is one.
    ///
    /// # Panics
    ///
    /// When the server refuses or the object does not decode.
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
            self.note(format!("{} {state}", K::kind(&())));
            found.map(|value| decode(location, &path, value))
        }
    }

    /// All objects of a kind: those in the test's namespace, or of the cluster where the kind
    /// has none.
    ///
    /// # Panics
    ///
    /// When the server refuses or an object does not decode.
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
            self.note(format!("{} of {kind}: {}", items.len(), states.join(", ")));
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

    /// Whether nothing stands at a path, where it matters: on a cluster that stays.
    async fn is_missing(&self, path: &str) -> bool {
        if self.shared.backend.choice() != Choice::Existing {
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
                Ok(answer) => return decode(location, &path, answer),
                Err(error) if is_taking_in(&error) && start.elapsed() < TAKEN_IN_WITHIN => {
                    sleep(POLL).await;
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

    fn note(&self, seen: String) {
        self.shared.seen.lock().push(seen);
    }
}

/// Whether a real server does nothing yet, because the definition of the kind has just changed
/// (`rejectRequest` of k8s.io/apiserver/pkg/server/filters/waitgroup.go).
fn is_taking_in(error: &kube::Error) -> bool {
    let words = "apiserver is shutting down";
    matches!(error, kube::Error::Api(status) if status.code == 503 && status.message == words)
}

/// One request of a test.
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
            format_args!("decode the answer of {path}: {error}"),
        ),
    }
}

/// An object in a few words: its name, and how it is doing.
fn state(object: &Value) -> String {
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    let mut words = Vec::new();
    if object["metadata"]["deletionTimestamp"].is_string() {
        words.push("terminating".to_owned());
    }
    words.extend(object["status"]["phase"].as_str().map(str::to_owned));
    let conditions = object["status"]["conditions"].as_array();
    for condition in conditions.into_iter().flatten() {
        let (kind, status) = (&condition["type"], &condition["status"]);
        if status != "True" {
            words.push(format!("{}={}", text(kind), text(status)));
        }
    }
    if words.is_empty() {
        return name.to_owned();
    }
    format!("{name} ({})", words.join(", "))
}

fn text(value: &Value) -> impl fmt::Display {
    value.as_str().unwrap_or("?").to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::state;

    #[test]
    fn an_object_is_described_by_what_is_not_well_with_it() {
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
