//! Writes of the reconciled object's status.

use std::fmt;
use std::pin::Pin;
use std::task::{self, Poll};

use futures_util::future::BoxFuture;
use kube::core::object::HasStatus;
use kubewright_runtime::write::StatusChange;
use serde::Serialize;
use serde_json::Value;

use super::Context;
use super::conditions::{Observation, complete_conditions};
use crate::Result;
use crate::kinds::TypedKind;

/// A kind whose status has a Rust type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no status that kube's derive knows",
    label = "no typed status",
    note = "give the kind one with `#[kube(status = \"..\")]`, where the type is `Default`, `Clone`, `Serialize` and `Deserialize`; for a built-in kind use `cx.apply_status(&partial)`"
)]
pub trait WithStatus: TypedKind {
    /// The type of the status.
    type Status: Default + Clone + Serialize;

    /// Returns the status, if the object has one.
    fn current_status(&self) -> Option<&Self::Status>;
}

impl<K, S> WithStatus for K
where
    K: TypedKind + HasStatus<Status = S>,
    S: Default + Clone + Serialize,
{
    type Status = S;

    fn current_status(&self) -> Option<&Self::Status> {
        self.status()
    }
}

/// A write of the status, sent when awaited; from [`Context::status`].
///
/// # Cancel safety
///
/// If it is dropped, the status may or may not have been written; a retry is safe.
#[must_use = "a status is not written until it is awaited"]
pub struct StatusWrite {
    write: BoxFuture<'static, Result<()>>,
}

impl<K: TypedKind> Context<K> {
    /// Changes the status of the reconciled object. Nothing is sent if the status does not differ.
    ///
    /// The function is called immediately, with the current status. Conditions that it sets with
    /// [`condition`](crate::condition()) get the `lastTransitionTime` at which their `status`
    /// changed, and the generation of the reconciled object as `observedGeneration`.
    ///
    /// Only the fields that differ are sent, and only to the state of the object that was read. If
    /// another client changed the object since, the write fails with a conflict and the object is
    /// retried soon.
    pub fn status(&self, change: impl FnOnce(&mut <K as WithStatus>::Status)) -> StatusWrite
    where
        K: WithStatus,
    {
        StatusWrite {
            write: match self.changed_status(change) {
                Ok(changed) => Box::pin(changed.write::<K>(self.clone())),
                Err(error) => Box::pin(async { Err(error.into()) }),
            },
        }
    }

    fn changed_status(
        &self,
        change: impl FnOnce(&mut <K as WithStatus>::Status),
    ) -> Result<ChangedStatus, serde_json::Error>
    where
        K: WithStatus,
    {
        // The newest state in the cache, which includes own writes.
        let view = self.environment.views.view::<K>().ok();
        let newest = view.and_then(|view| view.get(&self.key).ok().flatten());
        let current = match &newest {
            Some(newest) if newest.meta().uid == self.object.meta().uid => newest,
            _ => &self.object,
        };
        let old = current.current_status();
        let mut new = old.cloned().unwrap_or_default();
        change(&mut new);
        let old_value = serde_json::to_value(old)?;
        let mut new_value = serde_json::to_value(new)?;
        let observation = Observation {
            now: self.environment.clock.now(),
            // The generation that the function saw, not a newer one of the cache.
            generation: self.object.meta().generation,
        };
        complete_conditions(&mut new_value, &old_value, observation);
        let resource_version = current.meta().resource_version.clone();
        Ok(ChangedStatus {
            resource_version: resource_version.unwrap_or_default(),
            old: old_value,
            new: new_value,
        })
    }
}

/// A status before and after the change, and the version of the object that it was read from.
struct ChangedStatus {
    resource_version: String,
    old: Value,
    new: Value,
}

impl ChangedStatus {
    async fn write<K: TypedKind>(self, cx: Context<K>) -> Result<()> {
        let change = StatusChange {
            key: &cx.key,
            resource_version: &self.resource_version,
            old: &self.old,
            new: &self.new,
        };
        let target = cx.environment.own_target();
        cx.environment.writer.patch_status(target, change).await?;
        Ok(())
    }
}

impl Future for StatusWrite {
    type Output = Result<()>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<Self::Output> {
        self.write.as_mut().poll(cx)
    }
}

impl fmt::Debug for StatusWrite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StatusWrite").finish_non_exhaustive()
    }
}
