use kubewright_core::ObjectKey;
use kubewright_wire::record::Record;
use serde_json::{Value, json};

use super::difference::difference;
use super::request::ObjectRequest;
use super::{Target, WriteError, Writer};

/// A status as it was read, and as it is to be.
#[derive(Clone, Copy, Debug)]
pub struct StatusChange<'a> {
    /// Whose status.
    pub key: &'a ObjectKey,
    /// The resourceVersion of the object that was read.
    pub resource_version: &'a str,
    /// What stood below `.status`; null when there was nothing.
    pub old: &'a Value,
    /// What is to stand there.
    pub new: &'a Value,
}

impl Writer {
    /// Changes what differs between the two statuses, by a merge patch that holds only while the
    /// object is the one that was read; none when nothing differs.
    ///
    /// Fields that are in neither are left alone. An object that has changed since is a conflict:
    /// read it and compute the status again.
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
        let answer = request
            .merge(&self.client, &self.manager, body.to_string().into_bytes())
            .await?;
        let record = self.read(&request, &answer)?;
        tracing::debug!(revision = ?record.revision(), "{}", request.what());
        if let Some(store) = target.store {
            store.note_write(change.key.clone(), record.clone());
        }
        Ok(Some(record))
    }
}
