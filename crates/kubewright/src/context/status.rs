use std::fmt;
use std::pin::Pin;
use std::task::{self, Poll};

use futures_util::future::BoxFuture;
use kube::core::object::HasStatus;
use kubewright_runtime::write::StatusChange;
use serde::Serialize;
use serde_json::Value;

use super::Context;
use super::conditions::{Seen, complete_conditions};
use crate::Result;
use crate::controller::TypedKind;

/// A kind whose status has a Rust type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no status that kube's derive knows",
    label = "no typed status",
    note = "give the kind one with `#[kube(status = \"..\")]`, where the type is `Default`, `Clone`, `Serialize` and `Deserialize`; for a built-in kind use `cx.apply_status(&partial)`"
)]
pub trait WithStatus: TypedKind {
    /// The type of its status.
    type Status: Default + Clone + Serialize;

    /// Its status, when there is one.
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

/// A status on its way; made by [`Context::status`].
///
/// # Cancel safety
///
/// Dropped before its end, the status may or may not have been written; trying again is safe.
#[must_use = "a status is not written until it is awaited"]
pub struct StatusWrite {
    write: BoxFuture<'static, Result<()>>,
}

impl<K: TypedKind> Context<K> {
    /// Changes the reconciled object's status; it is written only when it differs.
    ///
    /// The function is called at once, with the status as it is now. Of conditions that it makes
    /// with [`condition`](crate::condition), the `lastTransitionTime` is the one at which their
    /// `status` changed, and `observedGeneration` that of the reconciled object.
    ///
    /// Only what differs is sent, and only to the object as it was read. When somebody else has
    /// changed that since, the write fails with a conflict and the object comes again soon.
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
    ) -> Result<Changed, serde_json::Error>
    where
        K: WithStatus,
    {
        // The newest that is known, own writes included.
        let newest = self.shared.views.view::<K>().ok();
        let newest = newest.and_then(|view| view.get(&self.key).ok().flatten());
        let current = match &newest {
            Some(newest) if newest.meta().uid == self.object.meta().uid => newest,
            _ => &self.object,
        };
        let old = current.current_status();
        let mut new = old.cloned().unwrap_or_default();
        change(&mut new);
        let old = serde_json::to_value(old)?;
        let mut new = serde_json::to_value(new)?;
        let seen = Seen {
            now: self.shared.clock.now(),
            // What the function looked at, not what has come since.
            generation: self.object.meta().generation,
        };
        complete_conditions(&mut new, &old, seen);
        let resource_version = current.meta().resource_version.clone();
        Ok(Changed {
            resource_version: resource_version.unwrap_or_default(),
            old,
            new,
        })
    }
}

/// A status before and after, and the object that it was read from.
struct Changed {
    resource_version: String,
    old: Value,
    new: Value,
}

impl Changed {
    async fn write<K: TypedKind>(self, cx: Context<K>) -> Result<()> {
        let change = StatusChange {
            key: &cx.key,
            resource_version: &self.resource_version,
            old: &self.old,
            new: &self.new,
        };
        let target = cx.shared.own_target();
        cx.shared.writer.patch_status(target, change).await?;
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
