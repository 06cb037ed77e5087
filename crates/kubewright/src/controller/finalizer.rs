use std::sync::Arc;

use kube::core::ObjectMeta;
use kubewright_core::ObjectKey;
use kubewright_runtime::controller::{Outcome, Run};
use kubewright_runtime::write::{FinalizerChange, Target};

use super::builder::Reconcile;
use super::reconciler::Reconciling;
use super::{AnyKind, Controller};
use crate::{Error, Result};

/// What holds an object until it is cleaned up.
pub(super) struct Finalizer<K> {
    name: String,
    cleanup: Reconcile<K>,
}

/// How an object and a finalizer stand to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// It has yet to get the finalizer.
    Unheld,
    Held,
    /// It is being deleted and waits for the cleanup.
    Ending,
    /// It is being deleted and does not wait for us.
    Released,
}

impl Stage {
    fn of(meta: &ObjectMeta, finalizer: &str) -> Self {
        let mut finalizers = meta.finalizers.iter().flatten();
        let is_held = finalizers.any(|one| one == finalizer);
        match (is_held, meta.deletion_timestamp.is_some()) {
            (false, false) => Self::Unheld,
            (true, false) => Self::Held,
            (true, true) => Self::Ending,
            (false, true) => Self::Released,
        }
    }
}

impl<K> Finalizer<K> {
    pub(super) fn new(name: String, cleanup: Reconcile<K>) -> Self {
        Self { name, cleanup }
    }
}

impl<K: AnyKind> Controller<K> {
    pub(super) fn check_finalizers(&self) -> Result<(), Error> {
        let refused = |finalizer: &Finalizer<K>, why| {
            Err(Error::Finalizer {
                controller: self.name.clone(),
                name: finalizer.name.clone(),
                why,
            })
        };
        match self.finalizers.as_slice() {
            // The API server refuses others
            // (k8s.io/apimachinery/pkg/api/validation, ValidateFinalizerName).
            [one] if !one.name.contains('/') => refused(
                one,
                "its name is not qualified; use one such as ex.io/cleanup",
            ),
            [] | [_] => Ok(()),
            [_, second, ..] => refused(
                second,
                "it has one already; clean up everything in one function",
            ),
        }
    }
}

impl<K: AnyKind> Reconciling<K> {
    /// One step of an object that is held by a finalizer.
    pub(super) async fn step(self: Arc<Self>, object: Arc<K>, run: Run) -> Result<Outcome> {
        let Some(finalizer) = &self.finalizer else {
            return self.call(object, run).await;
        };
        match Stage::of(object.meta(), &finalizer.name) {
            Stage::Held => self.call(object, run).await,
            Stage::Released => Ok(Outcome::done()),
            Stage::Unheld => match self.hold(&object, &run.key, &finalizer.name).await? {
                Some(held) => self.call(held, run).await,
                None => Ok(Outcome::done()),
            },
            Stage::Ending => {
                let cx = self.context(&object, run.clone());
                let outcome = (finalizer.cleanup)(Arc::clone(&object), cx).await?;
                if outcome.next_run().is_none() {
                    self.release(&object, &run.key, &finalizer.name).await?;
                }
                Ok(outcome)
            }
        }
    }

    /// The object with the finalizer; none when it has gone meanwhile.
    async fn hold(&self, object: &K, key: &ObjectKey, finalizer: &str) -> Result<Option<Arc<K>>> {
        let mut finalizers = object.meta().finalizers.clone().unwrap_or_default();
        finalizers.push(finalizer.to_owned());
        self.write(object, key, &finalizers).await?;
        // The write's answer is in the cache.
        Ok(self.own.get(key)?)
    }

    /// Lets the object go. The cleanup may have written it, so the newest one is asked.
    async fn release(&self, object: &K, key: &ObjectKey, finalizer: &str) -> Result<()> {
        let Some(newest) = self.own.get(key)? else {
            return Ok(());
        };
        if newest.meta().uid != object.meta().uid {
            return Ok(());
        }
        let mut finalizers = newest.meta().finalizers.clone().unwrap_or_default();
        finalizers.retain(|one| one != finalizer);
        self.write(&newest, key, &finalizers).await
    }

    async fn write(&self, object: &K, key: &ObjectKey, finalizers: &[String]) -> Result<()> {
        let meta = object.meta();
        let change = FinalizerChange {
            key,
            uid: meta.uid.as_deref().unwrap_or_default(),
            resource_version: meta.resource_version.as_deref().unwrap_or_default(),
            finalizers,
        };
        let target = Target {
            resource: &self.shared.resource,
            store: Some(self.own.informer().store()),
        };
        self.shared.writer.patch_finalizers(target, change).await?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
    use kube::core::ObjectMeta;

    use super::Stage;

    #[test]
    fn a_finalizer_is_added_to_living_objects_and_heeded_on_dying_ones() {
        let stage = |finalizers: &[&str], dying: bool| {
            let meta = ObjectMeta {
                finalizers: Some(finalizers.iter().map(ToString::to_string).collect()),
                deletion_timestamp: dying.then_some(Time(jiff::Timestamp::UNIX_EPOCH)),
                ..ObjectMeta::default()
            };
            Stage::of(&meta, "ex.io/ours")
        };
        assert_eq!(stage(&["ex.io/other"], false), Stage::Unheld);
        assert_eq!(stage(&["ex.io/ours"], false), Stage::Held);
        assert_eq!(stage(&["ex.io/ours", "ex.io/other"], true), Stage::Ending);
        assert_eq!(stage(&["ex.io/other"], true), Stage::Released);
    }
}
