//! Writes that depend on the object's current state.

use kubewright_core::ObjectKey;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::attempt::{Absent, Attempt, Changed, VERB};
use super::{Intent, Target, WriteError, WriteResult, Writer};

impl Writer {
    /// Gives the object the state that `change` makes of its current state. An object that does not
    /// exist is created from `object`, after `change` was called with it.
    ///
    /// Use it where the desired state depends on the current one; otherwise [`Writer::apply`] is
    /// simpler and needs fewer requests. The object is read from the API server, and only the
    /// fields that `change` has changed are written, under the condition that the object has not
    /// changed since it was read. After a conflict, or when the object was created or deleted
    /// concurrently, `change` is called again with the new state. Fields that `K` does not have are
    /// preserved, also in the items of a list; a list is sent as a whole.
    ///
    /// The status is written last, by a request to its subresource, which the kind must have. After
    /// a conflict only that request is retried, without another call of `change`: it would be
    /// called with its own result.
    ///
    /// If the object exists, only the name and namespace of `object` are used. `change` must not
    /// change them.
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
        let intent = Intent::for_verb(VERB, target.resource, object, None)?;
        let attempt = Attempt {
            writer: self,
            target,
            key: intent.key(),
            absent: Absent::Create(object),
            change: &change,
        };
        let written = attempt.retry().await?;
        Ok(written.expect("an absent object is created"))
    }

    /// Gives the object with this key the state that `change` makes of its current state. Returns
    /// `None` when the object does not exist, or does not have the given uid.
    ///
    /// Otherwise like [`Writer::create_or_patch`]. It corresponds to `MergeFrom` with an optimistic
    /// lock in controller-runtime, with retries.
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
            absent: Absent::Skip { uid },
            change: &change,
        };
        attempt.retry().await
    }
}
