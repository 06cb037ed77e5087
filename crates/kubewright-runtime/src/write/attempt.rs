//! Reads an object, lets a function change it, and writes the difference.

use bytes::Bytes;
use kubewright_core::ObjectKey;
use kubewright_wire::patch::merge;
use kubewright_wire::record::Record;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::attempt_error::{AttemptError, RetryScope, has_reason};
use super::deletion::is_removed;
use super::intent::without_nulls;
use super::request::ObjectRequest;
use super::versions::{Versions, take_status};
use super::{Intent, Target, WriteError, WriteResult, Writer};
use crate::client::{ErrorReason, RetryPolicy, retry_if};

/// The name of the operation in errors.
pub(super) const VERB: &str = "create or patch";

/// The result of a function that changes an object.
pub(super) type Changed = Result<(), Box<dyn std::error::Error + Send + Sync>>;

/// An object after its own fields were written and before its status is.
struct Written {
    record: Record,
    result: WriteResult,
    status: Versions,
}

/// An attempt to write the changes that a function makes to an object.
pub(super) struct Attempt<'a, K, F> {
    pub(super) writer: &'a Writer,
    pub(super) target: Target<'a>,
    pub(super) key: &'a ObjectKey,
    pub(super) absent: Absent<'a, K>,
    pub(super) change: &'a F,
}

/// What happens when the object does not exist.
pub(super) enum Absent<'a, K> {
    /// It is created from this value.
    Create(&'a K),
    /// Nothing is written, neither to an object with another uid.
    Skip { uid: Option<&'a str> },
}

impl<K, F> Attempt<'_, K, F>
where
    K: Clone + Serialize + DeserializeOwned,
    F: Fn(&mut K) -> Changed,
{
    /// Makes attempts until one succeeds or fails for a reason that a retry does not change.
    pub(super) async fn retry(&self) -> Result<Option<(K, WriteResult)>, WriteError> {
        let is_race = |error: &AttemptError| error.retry == RetryScope::Everything;
        let written = retry_if(RetryPolicy::default(), is_race, || self.run());
        written.await.map_err(|error| error.error)
    }

    async fn run(&self) -> Result<Option<(K, WriteResult)>, AttemptError> {
        let request = self.request("get", "");
        let written = match (request.get(&self.writer.client).await, &self.absent) {
            (Ok(body), absent) => {
                let current = self.writer.read(&request, &body)?;
                if absent.skips(&current) {
                    return Ok(None);
                }
                self.patch(current).await?
            }
            (Err(error), absent) if has_reason(&error, ErrorReason::NotFound) => match absent {
                Absent::Create(object) => self.create(object).await?,
                Absent::Skip { .. } => return Ok(None),
            },
            (Err(error), _) => return Err(error.into()),
        };
        let (record, result) = self.with_status(written).await?;
        Ok(Some((decode(&request, &record)?, result)))
    }

    async fn create(&self, object: &K) -> Result<Written, AttemptError> {
        let request = self.request("create", "");
        let desired = self.changed(object)?;
        let intent = Intent::for_verb(VERB, self.target.resource, &desired, None)?;
        if intent.key() != self.key {
            return Err(self.key_changed().into());
        }
        let body = self.bytes(intent.body())?;
        let client = &self.writer.client;
        let response = request
            .create(client, &self.writer.manager, body)
            .await
            .map_err(|error| AttemptError::retried_on(error, &[ErrorReason::AlreadyExists]))?;
        let record = self.note(&request, &response)?;
        // A create ignores the status of the request, and can set a status of its own.
        let before = take_status(&mut record.to_value());
        let mut after = before.clone();
        if let Some(status) = without_nulls(take_status(&mut self.value(&desired)?)) {
            merge(&mut after, &status);
        }
        Ok(Written {
            record,
            result: WriteResult::Created,
            status: Versions { before, after },
        })
    }

    async fn patch(&self, current: Record) -> Result<Written, AttemptError> {
        let typed: K = decode(&self.request("get", ""), &current)?;
        let desired = self.changed(&typed)?;
        let mut object = Versions {
            before: self.value(&typed)?,
            after: self.value(&desired)?,
        };
        if !object.have_same_key() {
            return Err(self.key_changed().into());
        }
        let status = object.take_status();
        let mut raw = current.to_value();
        take_status(&mut raw);
        let Some(patch) = object.patch_of(&raw) else {
            return Ok(Written {
                record: current,
                result: WriteResult::Unchanged,
                status,
            });
        };
        // The object can have been changed or deleted since it was read.
        let races = [ErrorReason::Conflict, ErrorReason::NotFound];
        let record = self
            .send_patch("", &current, patch)
            .await
            .map_err(|error| AttemptError::retried_on(error, &races))?;
        Ok(Written {
            record,
            result: WriteResult::Patched,
            status,
        })
    }

    /// Writes the status and returns the object with it.
    ///
    /// If the object's own fields were written, only the status is retried: another attempt would
    /// call `change` with its own result.
    async fn with_status(&self, written: Written) -> Result<(Record, WriteResult), AttemptError> {
        let Written {
            record,
            result,
            status,
        } = written;
        if status.before == status.after || is_removed(&record) {
            return Ok((record, result));
        }
        let is_written = result != WriteResult::Unchanged;
        let is_race = |error: &AttemptError| is_written && error.retry == RetryScope::Request;
        let mut known = Some(record.clone());
        let (uid, status) = (record.uid(), &status);
        let newest = retry_if(RetryPolicy::default(), is_race, || {
            self.write_status(known.take(), uid, status)
        })
        .await
        .map_err(|error| match error.retry {
            RetryScope::Request if !is_written => AttemptError {
                retry: RetryScope::Everything,
                ..error
            },
            _ => error,
        })?;
        if !is_written && !newest.is_same(&record) {
            return Ok((newest, WriteResult::Patched));
        }
        Ok((newest, result))
    }

    /// Writes the differences of the status. Without a known object, reads it first.
    async fn write_status(
        &self,
        known: Option<Record>,
        uid: &str,
        status: &Versions,
    ) -> Result<Record, AttemptError> {
        let current = match known {
            Some(record) => record,
            None => self.read_again(uid).await?,
        };
        let raw = take_status(&mut current.to_value());
        let Some(patch) = status.patch_of(&raw) else {
            return Ok(current);
        };
        let patch = json!({"status": patch});
        let error = match self.send_patch("status", &current, patch).await {
            Ok(patched) => return Ok(patched),
            Err(error) => error,
        };
        if has_reason(&error, ErrorReason::NotFound) {
            self.read_again(uid).await?;
            return Err(self.no_status_subresource().into());
        }
        let retry = if has_reason(&error, ErrorReason::Conflict) {
            RetryScope::Request
        } else {
            RetryScope::Nothing
        };
        Err(AttemptError { error, retry })
    }

    /// Reads the object with this uid. Everything is retried when it does not exist any more.
    async fn read_again(&self, uid: &str) -> Result<Record, AttemptError> {
        let request = self.request("get", "");
        let body = request
            .get(&self.writer.client)
            .await
            .map_err(|error| AttemptError::retried_on(error, &[ErrorReason::NotFound]))?;
        let record = self.writer.read(&request, &body)?;
        if record.uid() == uid {
            return Ok(record);
        }
        Err(AttemptError {
            error: WriteError::Invalid {
                what: request.what(),
                why: "it was deleted before its status was written, and another object has its \
                      name; try again"
                    .to_owned(),
            },
            retry: RetryScope::Everything,
        })
    }

    /// Sends a merge patch that fails with a conflict if the object is not at the given revision.
    async fn send_patch(
        &self,
        subresource: &'static str,
        current: &Record,
        mut patch: Value,
    ) -> Result<Record, WriteError> {
        let request = self.request("patch", subresource);
        // From the record, because the caller's type need not have the field.
        patch["metadata"]["resourceVersion"] = json!(current.resource_version());
        let body = self.bytes(&patch)?;
        let client = &self.writer.client;
        let response = request.merge(client, &self.writer.manager, body).await?;
        self.note(&request, &response)
    }

    fn changed(&self, object: &K) -> Result<K, WriteError> {
        let mut changed = object.clone();
        (self.change)(&mut changed).map_err(|source| WriteError::Change {
            what: self.request(VERB, "").what(),
            source,
        })?;
        Ok(changed)
    }

    /// Reads the object in the response to a write and adds it to the store.
    fn note(&self, request: &ObjectRequest<'_>, response: &Bytes) -> Result<Record, WriteError> {
        let record = self.writer.read(request, response)?;
        tracing::debug!(revision = ?record.revision(), "{}", request.what());
        self.target.note_patched(self.key, &record);
        Ok(record)
    }

    fn value(&self, object: &K) -> Result<Value, WriteError> {
        serde_json::to_value(object).map_err(|source| self.unserializable(source))
    }

    fn bytes(&self, body: &impl Serialize) -> Result<Vec<u8>, WriteError> {
        serde_json::to_vec(body).map_err(|source| self.unserializable(source))
    }

    fn unserializable(&self, source: serde_json::Error) -> WriteError {
        WriteError::Serialize {
            what: self.request(VERB, "").what(),
            source,
        }
    }

    fn key_changed(&self) -> WriteError {
        WriteError::Invalid {
            what: self.request(VERB, "").what(),
            why: "the function that changes it has changed its name or namespace; keep both, and \
                  create another object instead"
                .to_owned(),
        }
    }

    fn no_status_subresource(&self) -> WriteError {
        WriteError::Invalid {
            what: self.request("patch", "status").what(),
            why: "the object exists, but its kind has no status subresource; declare one, such as \
                  by #[kube(status = \"..\")], or do not change .status"
                .to_owned(),
        }
    }

    fn request(&self, verb: &'static str, subresource: &'static str) -> ObjectRequest<'_> {
        ObjectRequest {
            resource: self.target.resource,
            key: self.key,
            subresource,
            verb,
        }
    }
}

impl<K> Absent<'_, K> {
    /// Whether the object has another uid than the one to write.
    fn skips(&self, current: &Record) -> bool {
        match self {
            Self::Skip { uid: Some(uid) } => *uid != current.uid(),
            Self::Create(_) | Self::Skip { uid: None } => false,
        }
    }
}

fn decode<K: DeserializeOwned>(
    request: &ObjectRequest<'_>,
    record: &Record,
) -> Result<K, WriteError> {
    record.decode().map_err(|source| WriteError::Decode {
        what: request.what(),
        source,
    })
}
