//! Writes the finalizers of an object.

use kubewright_core::ObjectKey;
use kubewright_wire::record::Record;
use serde_json::json;

use super::attempt_error::has_reason;
use super::request::ObjectRequest;
use super::{Target, WriteError, Writer};
use crate::client::ErrorReason;

/// A change of the finalizers of an object that was read.
#[derive(Clone, Copy, Debug)]
pub struct FinalizerChange<'a> {
    /// The key of the object.
    pub key: &'a ObjectKey,
    /// The uid of the object.
    pub uid: &'a str,
    /// The resourceVersion at which the object was read.
    pub resource_version: &'a str,
    /// All finalizers of the object after the change.
    pub finalizers: &'a [String],
}

impl Writer {
    /// Replaces the finalizers of the object, by a merge patch that fails with a conflict if the
    /// object has changed since it was read. Returns `None` when the object does not exist any
    /// more.
    ///
    /// After a conflict, read the object and compute the change again.
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
        let response = request
            .merge(&self.client, &self.manager, body.to_string().into_bytes())
            .await;
        let body = match response {
            Ok(body) => body,
            Err(error) if has_reason(&error, ErrorReason::NotFound) => return Ok(None),
            Err(error) => return Err(error),
        };
        let record = self.read(&request, &body)?;
        tracing::debug!(revision = ?record.revision(), "{}", request.what());
        target.note_patched(change.key, &record);
        Ok(Some(record))
    }
}
