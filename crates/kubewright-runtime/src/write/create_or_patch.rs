use bytes::Bytes;
use kubewright_core::ObjectKey;
use kubewright_wire::patch::merge;
use kubewright_wire::record::Record;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::finalizers::is_last;
use super::intent::without_nulls;
use super::request::ObjectRequest;
use super::tried::{Again, Tried, means};
use super::versions::{Versions, take_status};
use super::{Intent, Target, WriteError, Writer};
use crate::client::{ErrorReason, RetryPolicy, retry_if};

/// How errors name what is tried.
const VERB: &str = "create or patch";

/// What became of an object that was to be as a function says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WriteResult {
    /// It was so already: nothing was written.
    Unchanged,
    /// It was not there, and is now.
    Created,
    /// It was there, and what differed was written.
    Patched,
}

/// What a function that changes an object gives back.
type Changed = Result<(), Box<dyn std::error::Error + Send + Sync>>;

/// An object whose own part is as it is to be; its status is not yet.
struct Written {
    record: Record,
    done: WriteResult,
    status: Versions,
}

impl Writer {
    /// Makes the object what `change` makes of it: of the object that is there, else of `object`,
    /// which is then created.
    ///
    /// For what depends on the object's present state; where it does not, [`Writer::apply`] is
    /// simpler and asks less. The object is read from the API server, and only what `change` has
    /// changed is written, while the object is still the one that was read: when somebody else was
    /// first, or has made or deleted it meanwhile, `change` is called again with what is there
    /// then. What `K` does not know is left as it is, also in the items of a list; a list is sent
    /// as a whole.
    ///
    /// A status is written last, by a request of its own to its subresource, which the kind must
    /// have. When somebody else comes in between, only that is tried again, and `change` is not
    /// called again: it would see its own result.
    ///
    /// Of `object` only name and namespace matter while there is one; they must stay.
    ///
    /// # Cancel safety
    ///
    /// As [`Writer::apply`].
    #[expect(clippy::missing_panics_doc, reason = "an absent object is created")]
    pub async fn create_or_patch<K>(
        &self,
        target: Target<'_>,
        object: &K,
        change: impl Fn(&mut K) -> Changed,
    ) -> Result<(K, WriteResult), WriteError>
    where
        K: Clone + Serialize + DeserializeOwned,
    {
        let intent = Intent::to(VERB, target.resource, object, None)?;
        let attempt = Attempt {
            writer: self,
            target,
            key: intent.key(),
            absent: Absent::Create(object),
            change: &change,
        };
        let done = attempt.until_done().await?;
        Ok(done.expect("what is not there is created"))
    }

    /// Makes the object that has this key, and this uid where one is given, what `change` makes of
    /// it; none when it is not there or is another by now.
    ///
    /// As [`Writer::create_or_patch`] in everything else: `MergeFrom` with an optimistic lock in
    /// controller-runtime, tried again.
    ///
    /// # Cancel safety
    ///
    /// As [`Writer::apply`].
    pub async fn patch<K>(
        &self,
        target: Target<'_>,
        key: &ObjectKey,
        uid: Option<&str>,
        change: impl Fn(&mut K) -> Changed,
    ) -> Result<Option<(K, WriteResult)>, WriteError>
    where
        K: Clone + Serialize + DeserializeOwned,
    {
        let attempt = Attempt {
            writer: self,
            target,
            key,
            absent: Absent::Leave { uid },
            change: &change,
        };
        attempt.until_done().await
    }
}

/// One object that is to be as a function says.
struct Attempt<'a, K, F> {
    writer: &'a Writer,
    target: Target<'a>,
    key: &'a ObjectKey,
    absent: Absent<'a, K>,
    change: &'a F,
}

/// What is done when the object is not there.
enum Absent<'a, K> {
    /// It is made of this one.
    Create(&'a K),
    /// Nothing; an object with another uid is not the one that is meant.
    Leave { uid: Option<&'a str> },
}

impl<K, F> Attempt<'_, K, F>
where
    K: Clone + Serialize + DeserializeOwned,
    F: Fn(&mut K) -> Changed,
{
    async fn until_done(&self) -> Result<Option<(K, WriteResult)>, WriteError> {
        let is_race = |tried: &Tried| tried.again == Again::All;
        let done = retry_if(RetryPolicy::default(), is_race, || self.run());
        done.await.map_err(|tried| tried.error)
    }

    async fn run(&self) -> Result<Option<(K, WriteResult)>, Tried> {
        let request = self.request("get", "");
        let written = match (request.get(&self.writer.client).await, &self.absent) {
            (Ok(body), absent) => {
                let present = self.writer.read(&request, &body)?;
                if absent.is_another(&present) {
                    return Ok(None);
                }
                self.patch(present).await?
            }
            (Err(error), absent) if means(&error, ErrorReason::NotFound) => match absent {
                Absent::Create(object) => self.create(object).await?,
                Absent::Leave { .. } => return Ok(None),
            },
            (Err(error), _) => return Err(error.into()),
        };
        let (record, done) = self.with_status(written).await?;
        Ok(Some((decode(&request, &record)?, done)))
    }

    async fn create(&self, object: &K) -> Result<Written, Tried> {
        let request = self.request("create", "");
        let wanted = self.changed(object)?;
        let intent = Intent::to(VERB, self.target.resource, &wanted, None)?;
        if intent.key() != self.key {
            return Err(self.moved().into());
        }
        let body = self.bytes(intent.body())?;
        let client = &self.writer.client;
        let answer = request.create(client, &self.writer.manager, body).await;
        let answer =
            answer.map_err(|error| Tried::anew_if(error, &[ErrorReason::AlreadyExists]))?;
        let record = self.note(&request, &answer)?;
        // The API server drops a status when it makes an object, and may give it one of its own.
        let before = take_status(&mut record.to_value());
        let mut after = before.clone();
        if let Some(status) = without_nulls(take_status(&mut self.value(&wanted)?)) {
            merge(&mut after, &status);
        }
        Ok(Written {
            record,
            done: WriteResult::Created,
            status: Versions { before, after },
        })
    }

    async fn patch(&self, present: Record) -> Result<Written, Tried> {
        let known: K = decode(&self.request("get", ""), &present)?;
        let wanted = self.changed(&known)?;
        let mut object = Versions {
            before: self.value(&known)?,
            after: self.value(&wanted)?,
        };
        if !object.is_in_place() {
            return Err(self.moved().into());
        }
        let status = object.take_status();
        let mut raw = present.to_value();
        take_status(&mut raw);
        let (mut record, mut done) = (present, WriteResult::Unchanged);
        if let Some(patch) = object.onto(&raw) {
            let patched = self.patch_part("", &record, patch).await;
            // The object has changed since it was read, or is gone.
            let races = [ErrorReason::Conflict, ErrorReason::NotFound];
            record = patched.map_err(|error| Tried::anew_if(error, &races))?;
            done = WriteResult::Patched;
        }
        Ok(Written {
            record,
            done,
            status,
        })
    }

    /// The object with its status, too.
    ///
    /// Where something of it was written already, the status alone is tried again: from the start,
    /// `change` would be called with its own result.
    async fn with_status(&self, written: Written) -> Result<(Record, WriteResult), Tried> {
        let Written {
            record,
            done,
            status,
        } = written;
        if status.before == status.after || is_last(&record) {
            return Ok((record, done));
        }
        let is_written = done != WriteResult::Unchanged;
        let is_race = |tried: &Tried| is_written && tried.again == Again::Part;
        let mut known = Some(record.clone());
        let (uid, status) = (record.uid(), &status);
        let tried = retry_if(RetryPolicy::default(), is_race, || {
            self.try_status(known.take(), uid, status)
        });
        let newest = tried.await.map_err(|tried| match tried.again {
            Again::Part if !is_written => Tried {
                again: Again::All,
                ..tried
            },
            _ => tried,
        })?;
        let done = match done {
            WriteResult::Unchanged if !newest.is_same(&record) => WriteResult::Patched,
            done => done,
        };
        Ok((newest, done))
    }

    /// Writes what differs of the status; where the object is not known, it is read first.
    async fn try_status(
        &self,
        known: Option<Record>,
        uid: &str,
        status: &Versions,
    ) -> Result<Record, Tried> {
        let present = match known {
            Some(record) => record,
            None => self.still_there(uid).await?,
        };
        let raw = take_status(&mut present.to_value());
        let Some(patch) = status.onto(&raw) else {
            return Ok(present);
        };
        let patch = json!({"status": patch});
        let error = match self.patch_part("status", &present, patch).await {
            Ok(patched) => return Ok(patched),
            Err(error) => error,
        };
        if means(&error, ErrorReason::NotFound) {
            self.still_there(uid).await?;
            return Err(self.without_status().into());
        }
        let again = match means(&error, ErrorReason::Conflict) {
            true => Again::Part,
            false => Again::Nothing,
        };
        Err(Tried { error, again })
    }

    /// The object of this uid as it is now; when it is gone, everything begins anew.
    async fn still_there(&self, uid: &str) -> Result<Record, Tried> {
        let request = self.request("get", "");
        let body = request.get(&self.writer.client).await;
        let body = body.map_err(|error| Tried::anew_if(error, &[ErrorReason::NotFound]))?;
        let record = self.writer.read(&request, &body)?;
        if record.uid() == uid {
            return Ok(record);
        }
        Err(Tried {
            error: WriteError::Invalid {
                what: request.what(),
                why: "it was deleted before its status was written, and another object has its \
                      name; try again"
                    .to_owned(),
            },
            again: Again::All,
        })
    }

    /// Writes a merge patch that holds only while the object is the given one.
    async fn patch_part(
        &self,
        subresource: &'static str,
        newest: &Record,
        mut patch: Value,
    ) -> Result<Record, WriteError> {
        let request = self.request("patch", subresource);
        // Of the record, for a type of the caller's need not have it.
        patch["metadata"]["resourceVersion"] = json!(newest.resource_version());
        let body = self.bytes(&patch)?;
        let client = &self.writer.client;
        let answer = request.merge(client, &self.writer.manager, body).await?;
        self.note(&request, &answer)
    }

    fn changed(&self, object: &K) -> Result<K, WriteError> {
        let mut changed = object.clone();
        (self.change)(&mut changed).map_err(|source| WriteError::Change {
            what: self.request(VERB, "").what(),
            source,
        })?;
        Ok(changed)
    }

    /// The object of an answer to a write, which the cache learns of.
    fn note(&self, request: &ObjectRequest<'_>, answer: &Bytes) -> Result<Record, WriteError> {
        let record = self.writer.read(request, answer)?;
        tracing::debug!(revision = ?record.revision(), "{}", request.what());
        if let Some(store) = self.target.store {
            match is_last(&record) {
                // Its last finalizer was taken away: the answer is the object that was removed.
                true => store.note_delete(self.key.clone(), record.uid()),
                false => store.note_write(self.key.clone(), record.clone()),
            }
        }
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

    fn moved(&self) -> WriteError {
        WriteError::Invalid {
            what: self.request(VERB, "").what(),
            why: "the function that changes it has changed its name or namespace; leave both \
                  alone, and create another object instead"
                .to_owned(),
        }
    }

    fn without_status(&self) -> WriteError {
        WriteError::Invalid {
            what: self.request("patch", "status").what(),
            why: "the object is there, but its kind has no status subresource; declare one, such \
                  as by #[kube(status = \"..\")], or leave .status alone"
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
    /// Whether this object is not the one that is meant.
    fn is_another(&self, present: &Record) -> bool {
        match self {
            Self::Leave { uid: Some(uid) } => *uid != present.uid(),
            Self::Create(_) | Self::Leave { uid: None } => false,
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
