use kubewright_core::ObjectKey;
use kubewright_wire::record::Record;
use serde_json::json;

use super::request::ObjectRequest;
use super::writer::waits;
use super::{Target, WriteError, Writer};
use crate::client::ErrorReason;

/// The finalizers of an object as it was read, and as they are to be.
#[derive(Clone, Copy, Debug)]
pub struct FinalizerChange<'a> {
    /// Whose finalizers.
    pub key: &'a ObjectKey,
    /// The object that was read.
    pub uid: &'a str,
    /// Its resourceVersion.
    pub resource_version: &'a str,
    /// All finalizers that it is to have.
    pub finalizers: &'a [String],
}

impl Writer {
    /// Gives the object these finalizers, by a merge patch that holds only while the object is
    /// the one that was read; none when it is gone.
    ///
    /// An object that has changed since is a conflict: read it and look again.
    ///
    /// # Cancel safety
    ///
    /// As [`Writer::apply`].
    pub async fn patch_finalizers(
        &self,
        target: Target<'_>,
        change: FinalizerChange<'_>,
    ) -> Result<Option<Record>, WriteError> {
        let request = ObjectRequest {
            resource: target.resource,
            key: change.key,
            subresource: "",
            verb: "patch",
        };
        let body = json!({"metadata": {
            "resourceVersion": change.resource_version,
            "finalizers": change.finalizers,
        }});
        let answer = request
            .merge(&self.client, &self.manager, body.to_string().into_bytes())
            .await;
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) if error.status().is_some_and(is_gone) => return Ok(None),
            Err(error) => return Err(error),
        };
        let record = self.read(&request, &answer)?;
        tracing::debug!(revision = ?record.revision(), "{}", request.what());
        if let Some(store) = target.store {
            match is_last(&record) {
                // The API server answers with the object that it has just removed.
                true => store.note_delete(change.key.clone(), change.uid),
                false => store.note_write(change.key.clone(), record.clone()),
            }
        }
        Ok(Some(record))
    }
}

fn is_gone(status: &kubewright_wire::status::Status) -> bool {
    ErrorReason::of(status) == ErrorReason::NotFound
}

/// Whether nothing keeps the object any more.
pub(super) fn is_last(record: &Record) -> bool {
    record.deletion_timestamp().is_some() && !waits(record)
}
