//! Applies and deletes objects.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use kube::Client;
use kubewright_core::{ObjectKey, Resource};
use kubewright_wire::record::{Encoder, EncoderOptions, Record};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::contains::contains;
use super::deletion::{is_gone, is_terminating};
use super::intent::without_nulls;
use super::last_writes::{LastWrites, Slot, content_hash};
use super::request::ObjectRequest;
use super::target::Target;
use super::{Intent, WriteError};

/// Writes objects as a field manager.
///
/// Clones share the record of the last writes, which are not repeated.
#[derive(Clone)]
pub struct Writer {
    pub(super) client: Client,
    pub(super) manager: Arc<str>,
    last_writes: LastWrites,
}

impl Writer {
    /// A writer that sends requests through `client` as the field manager `manager`.
    pub fn new(client: Client, manager: &str) -> Self {
        Self {
            client,
            manager: manager.into(),
            last_writes: LastWrites::default(),
        }
    }

    /// Applies the intent, by server-side apply with force, and returns the object after it.
    ///
    /// No request is sent if the last write had the same body and the object has not changed since,
    /// or only in other fields: the manager owns the same fields as then, and the cached object
    /// contains every value. So the first apply of each object after a restart is always sent. An
    /// intent with values that the API server normalizes (a cpu of `1000m`) is sent once per change
    /// of the object; the API server then detects that nothing changes.
    ///
    /// # Cancel safety
    ///
    /// When dropped before it returns, the object may or may not have been written. It is safe to
    /// try again.
    pub async fn apply(&self, target: Target<'_>, intent: &Intent) -> Result<Record, WriteError> {
        let slot = Slot::new(target.resource, intent.key(), "");
        let hash = content_hash(intent.body());
        let cached = target.store.and_then(|store| store.get(intent.key()));
        if let Some(record) = cached {
            let fields = record.field_hash();
            if self.last_writes.is_unchanged(slot, hash, &record)
                || self.last_writes.has_same_fields(slot, hash, fields)
                    && contains_all(&record, intent.body())
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
        self.last_writes
            .insert(slot, hash, record.field_hash(), &record);
        Ok(record)
    }

    /// Applies the status, by server-side apply with force. No request is sent if the last write had
    /// the same body and the cached object has not changed since, or still contains the status.
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
            && (self.last_writes.is_unchanged(slot, hash, &record)
                || self.last_writes.has_same_fields(slot, hash, None)
                    && contains_all(&record, &body))
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
        self.last_writes.insert(slot, hash, None, &record);
        Ok(record)
    }

    /// Deletes the object with this uid. Succeeds if the object does not exist any more, or if its
    /// name belongs to another object. No request is sent if the object is already being deleted.
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
        let is_being_deleted =
            |record: &Record| record.uid() == uid && record.deletion_timestamp().is_some();
        if cached.as_ref().is_some_and(is_being_deleted) {
            return Ok(());
        }
        self.last_writes.remove(Slot::new(target.resource, key, ""));
        let options = json!({
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "preconditions": {"uid": uid},
        });
        let response = request
            .delete(&self.client, options.to_string().into_bytes())
            .await;
        let body = match response {
            Ok(body) => body,
            Err(error) if error.status().is_some_and(is_gone) => return Ok(()),
            Err(error) => return Err(error),
        };
        self.note_delete(target, &request, uid, &body)
    }

    /// Adds the response to a delete to the store.
    ///
    /// The response is the object if it still exists, for its grace period or its finalizers.
    /// Otherwise it is a `Status` or, for some kinds (Pod, Service, ServiceAccount), the object
    /// before it was removed.
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
        let response: DeleteResponse<'_> = serde_json::from_slice(body).unwrap_or_default();
        if response.kind == Some("Status") {
            store.note_delete(request.key.clone(), uid);
            return Ok(());
        }
        let record = self.read(request, body)?;
        if is_terminating(&record) {
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
        // Until a response arrives, the state of the object is unknown.
        self.last_writes.remove(slot);
        let bytes = serde_json::to_vec(body).map_err(|source| WriteError::Serialize {
            what: request.what(),
            source,
        })?;
        let response = request.apply(&self.client, &self.manager, bytes).await?;
        let record = self.read(request, &response)?;
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
        // With the options of the informer, so that their records are equal.
        let mut encoder = Encoder::new(EncoderOptions {
            field_manager: Some(self.manager.to_string()),
            kind: Some(request.resource.kind.clone()),
        });
        let record = encoder.encode(body).or_else(|cause| {
            // The object was written, and the informer stores only a stub of it as well.
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

/// The kind of a response to a delete: `Status`, or that of the object.
#[derive(Default, Deserialize)]
struct DeleteResponse<'a> {
    #[serde(borrow)]
    kind: Option<&'a str>,
}

/// Whether the object contains all fields of the body. The kind is not compared: it cannot differ,
/// and items of a list do not have it.
fn contains_all(record: &Record, body: &Map<String, Value>) -> bool {
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
