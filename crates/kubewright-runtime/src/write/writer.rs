use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use kube::Client;
use kubewright_core::{ObjectKey, Resource};
use kubewright_wire::record::{Encoder, EncoderOptions, Node, Record};
use kubewright_wire::status::Status;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::contains::contains;
use super::intent::without_nulls;
use super::memory::{Memory, Slot, content_hash};
use super::request::ObjectRequest;
use super::{Intent, WriteError};
use crate::client::ErrorReason;
use crate::store::Store;

/// Writes objects in the name of one field manager.
///
/// Cloning shares what is remembered of former writes.
#[derive(Clone)]
pub struct Writer {
    pub(super) client: Client,
    pub(super) manager: Arc<str>,
    memory: Memory,
}

/// The kind that is written, and the store that learns of it where one is kept.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// The kind.
    pub resource: &'a Resource,
    /// Where its objects are cached.
    pub store: Option<&'a Store>,
}

impl Writer {
    /// Writes through `client` as the field manager `manager`.
    pub fn new(client: Client, manager: &str) -> Self {
        Self {
            client,
            manager: manager.into(),
            memory: Memory::default(),
        }
    }

    /// Makes the object what `intent` says, by server-side apply with force, and gives back the
    /// object as it then is.
    ///
    /// Nothing is sent when the same was sent before and the object has not changed since, or has
    /// changed elsewhere only: its fields still belong to us as they did then, and every value is
    /// found in the cached object. So the first apply of each object after a restart is always
    /// sent, and one whose values the API server spells differently (a cpu of `1000m`) once per
    /// change of the object; the API server sees that it changes nothing.
    ///
    /// # Cancel safety
    ///
    /// Dropped before its end, the write may or may not have been done; trying again is safe.
    pub async fn apply(&self, target: Target<'_>, intent: &Intent) -> Result<Record, WriteError> {
        let slot = Slot::new(target.resource, intent.key(), "");
        let hash = content_hash(intent.body());
        let cached = target.store.and_then(|store| store.get(intent.key()));
        if let Some(record) = cached {
            let recalled = self.memory.recalls(slot, hash, record.field_hash());
            if self.memory.is_untouched(slot, hash, &record)
                || recalled && holds(&record, intent.body())
            {
                return Ok(record);
            }
        }
        let request = ObjectRequest {
            resource: target.resource,
            key: intent.key(),
            subresource: "",
            verb: "apply",
        };
        let record = self.send(target, &request, slot, intent.body()).await?;
        self.memory
            .remember(slot, hash, record.field_hash(), &record);
        Ok(record)
    }

    /// Makes the status what `status` says, by server-side apply with force, unless exactly that
    /// was sent last and the cached object has not changed since or still has it.
    ///
    /// # Cancel safety
    ///
    /// As [`Writer::apply`].
    pub async fn apply_status(
        &self,
        target: Target<'_>,
        key: &ObjectKey,
        status: Value,
    ) -> Result<Record, WriteError> {
        let slot = Slot::new(target.resource, key, "status");
        let body = status_body(target.resource, key, status);
        let hash = content_hash(&body);
        let cached = target.store.and_then(|store| store.get(key));
        if let Some(record) = cached
            && (self.memory.is_untouched(slot, hash, &record)
                || self.memory.recalls(slot, hash, None) && holds(&record, &body))
        {
            return Ok(record);
        }
        let request = ObjectRequest {
            resource: target.resource,
            key,
            subresource: "status",
            verb: "apply",
        };
        let record = self.send(target, &request, slot, &body).await?;
        self.memory.remember(slot, hash, None, &record);
        Ok(record)
    }

    /// Deletes the object that has this uid. One that is gone already, or whose name now belongs
    /// to another, is no error; for one that is being deleted nothing is sent.
    ///
    /// # Cancel safety
    ///
    /// As [`Writer::apply`].
    pub async fn delete(
        &self,
        target: Target<'_>,
        key: &ObjectKey,
        uid: &str,
    ) -> Result<(), WriteError> {
        let request = ObjectRequest {
            resource: target.resource,
            key,
            subresource: "",
            verb: "delete",
        };
        let cached = target.store.and_then(|store| store.get(key));
        let is_going =
            |record: &Record| record.uid() == uid && record.deletion_timestamp().is_some();
        if cached.as_ref().is_some_and(is_going) {
            return Ok(());
        }
        self.memory.forget(Slot::new(target.resource, key, ""));
        let options = json!({
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "preconditions": {"uid": uid},
        });
        let answer = request
            .delete(&self.client, options.to_string().into_bytes())
            .await;
        let body = match answer {
            Ok(body) => body,
            Err(error) if error.status().is_some_and(is_gone) => return Ok(()),
            Err(error) => return Err(error),
        };
        self.note_delete(target, &request, uid, &body)
    }

    /// A delete that waits for something answers with the object; one that does not, with a
    /// `Status` or, for some kinds (Pod, Service, ServiceAccount), with the object as it was.
    fn note_delete(
        &self,
        target: Target<'_>,
        request: &ObjectRequest<'_>,
        uid: &str,
        body: &Bytes,
    ) -> Result<(), WriteError> {
        let Some(store) = target.store else {
            return Ok(());
        };
        let answer: Answer<'_> = serde_json::from_slice(body).unwrap_or_default();
        if answer.kind == Some("Status") {
            store.note_delete(request.key.clone(), uid);
            return Ok(());
        }
        let record = self.read(request, body)?;
        if waits(&record) {
            store.note_write(request.key.clone(), record);
        } else {
            store.note_delete(request.key.clone(), uid);
        }
        Ok(())
    }

    async fn send(
        &self,
        target: Target<'_>,
        request: &ObjectRequest<'_>,
        slot: Slot,
        body: &Map<String, Value>,
    ) -> Result<Record, WriteError> {
        // Until an answer is here, nobody knows what the API server has of it.
        self.memory.forget(slot);
        let bytes = serde_json::to_vec(body).map_err(|source| WriteError::Serialize {
            what: request.what(),
            source,
        })?;
        let answer = request.apply(&self.client, &self.manager, bytes).await?;
        let record = self.read(request, &answer)?;
        tracing::debug!(revision = ?record.revision(), "{}", request.what());
        if let Some(store) = target.store {
            store.note_write(request.key.clone(), record.clone());
        }
        Ok(record)
    }

    pub(super) fn read(
        &self,
        request: &ObjectRequest<'_>,
        body: &Bytes,
    ) -> Result<Record, WriteError> {
        // As the informer's own, so that both are alike.
        let mut encoder = Encoder::new(EncoderOptions {
            field_manager: Some(self.manager.to_string()),
            kind: Some(request.resource.kind.clone()),
        });
        let record = encoder.encode(body).or_else(|cause| {
            // The write is done, and the informer keeps no more of such an object.
            encoder.encode_stub(body).map_err(|_| cause)
        });
        record.map_err(|source| WriteError::InvalidResponse {
            what: request.what(),
            source,
        })
    }
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer")
            .field("manager", &self.manager)
            .finish_non_exhaustive()
    }
}

/// What tells a `Status` from the object.
#[derive(Default, Deserialize)]
struct Answer<'a> {
    #[serde(borrow)]
    kind: Option<&'a str>,
}

/// Whether a deleted object is still there, for its grace period or its finalizers.
pub(super) fn waits(answer: &Record) -> bool {
    let grace = answer.field(["metadata", "deletionGracePeriodSeconds"]);
    let at_once = grace.and_then(Node::as_integer) == Some(0);
    answer.deletion_timestamp().is_some() && (!at_once || answer.finalizers().next().is_some())
}

/// The kind is not looked for: it cannot differ, and items of a list do not carry it.
fn holds(record: &Record, body: &Map<String, Value>) -> bool {
    body.iter()
        .filter(|(name, _)| !matches!(name.as_str(), "apiVersion" | "kind"))
        .all(|(name, value)| {
            let found = record.root().field(name);
            found.is_some_and(|found| contains(found, value))
        })
}

fn status_body(resource: &Resource, key: &ObjectKey, status: Value) -> Map<String, Value> {
    let mut metadata = Map::new();
    metadata.insert("name".to_owned(), json!(key.name()));
    if let Some(namespace) = key.namespace() {
        metadata.insert("namespace".to_owned(), json!(namespace));
    }
    let status = without_nulls(status).unwrap_or_else(|| json!({}));
    Map::from_iter([
        ("apiVersion".to_owned(), json!(resource.kind.api_version())),
        ("kind".to_owned(), json!(resource.kind.kind)),
        ("metadata".to_owned(), Value::Object(metadata)),
        ("status".to_owned(), status),
    ])
}

/// A conflict on the only precondition means that the name belongs to another object now. Any
/// other, such as a webhook's, leaves the object where it is.
fn is_gone(status: &Status) -> bool {
    match ErrorReason::of(status) {
        ErrorReason::NotFound => true,
        ErrorReason::Conflict => OTHER_UID.iter().any(|text| status.message.contains(text)),
        _ => false,
    }
}

/// In the words of `rest.BeforeDelete` and of `storage.Preconditions.Check` of k8s.io/apiserver;
/// nothing else in the answer tells it.
const OTHER_UID: [&str; 2] = ["the UID in the precondition", "UID in precondition"];
