//! Writes the status of an object by merge patch.

use kubewright_core::ObjectKey;
use kubewright_wire::record::Record;
use serde_json::{Value, json};

use super::difference::difference;
use super::request::ObjectRequest;
use super::{Target, WriteError, Writer};

/// A change of the status of an object that was read.
#[derive(Clone, Copy, Debug)]
pub struct StatusChange<'a> {
    /// The key of the object.
    pub key: &'a ObjectKey,
    /// The resourceVersion at which the object was read.
    pub resource_version: &'a str,
    /// The value of `.status` that was read; null if there was none.
    pub old: &'a Value,
    /// The desired value of `.status`.
    pub new: &'a Value,
}

impl Writer {
    /// Writes the differences between the two statuses, by a merge patch that fails with a conflict
    /// if the object has changed since it was read. Returns `None` when nothing differs.
    ///
    /// Fields that are in neither are preserved. After a conflict, read the object and compute the
    /// status again.
    ///
    /// # Cancel safety
    ///
    /// As [`Writer::apply`].
    pub async fn patch_status(
        &self,
        target: Target<'_>,
        change: StatusChange<'_>,
    ) -> Result<Option<Record>, WriteError> {
        let Some(difference) = difference(change.old, change.new) else {
            return Ok(None);
        };
        let request = ObjectRequest {
            resource: target.resource,
            key: change.key,
            subresource: "status",
            verb: "patch",
        };
        let body = json!({
            "metadata": {"resourceVersion": change.resource_version},
            "status": difference,
        });
        let response = request
            .merge(&self.client, &self.manager, body.to_string().into_bytes())
            .await?;
        let record = self.read(&request, &response)?;
        tracing::debug!(revision = ?record.revision(), "{}", request.what());
        if let Some(store) = target.store {
            store.note_write(change.key.clone(), record.clone());
        }
        Ok(Some(record))
    }
}
