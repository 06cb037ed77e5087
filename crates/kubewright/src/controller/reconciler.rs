//! One run of a controller: looks up the object of a key and calls the user's function for it.

use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, ready};
use kubewright_core::ObjectKey;
use kubewright_runtime::cache::View;
use kubewright_runtime::controller::{Outcome, Run};
use kubewright_runtime::write::{FinalizerChange, Target};

use super::finalizer::{Finalizer, Stage};
use super::functions::{DeletedFn, ReconcileFn};
use crate::Result;
use crate::context::{Context, ReconcileEnvironment};
use crate::kinds::AnyKind;

/// Reconciles the keys of one controller.
pub(super) struct Reconciler<K> {
    pub(super) own: View<K>,
    pub(super) environment: Arc<ReconcileEnvironment>,
    pub(super) reconcile: ReconcileFn<K>,
    pub(super) finalizer: Option<Finalizer<K>>,
    pub(super) deleted: Option<DeletedFn>,
}

impl<K: AnyKind> Reconciler<K> {
    /// Looks the object up and calls the user's function for its state.
    pub(super) fn run(self: Arc<Self>, run: Run) -> BoxFuture<'static, Result<Outcome>> {
        match self.own.get(&run.key) {
            Ok(Some(object)) => match &self.finalizer {
                Some(_) => Box::pin(self.run_with_finalizer(object, run)),
                None => self.call(object, run),
            },
            Ok(None) => match &self.deleted {
                Some(deleted) => {
                    Box::pin(deleted(run.key).map(|result| result.map(|()| Outcome::done())))
                }
                None => Box::pin(ready(Ok(Outcome::done()))),
            },
            Err(error) => Box::pin(ready(Err(error.into()))),
        }
    }

    fn call(&self, object: Arc<K>, run: Run) -> BoxFuture<'static, Result<Outcome>> {
        let cx = self.context(&object, run);
        (self.reconcile)(object, cx)
    }

    fn context(&self, object: &Arc<K>, run: Run) -> Context<K> {
        Context::new(Arc::clone(&self.environment), run, Arc::clone(object))
    }

    /// Reconciles or cleans up, depending on the stage of the object.
    async fn run_with_finalizer(self: Arc<Self>, object: Arc<K>, run: Run) -> Result<Outcome> {
        let Some(finalizer) = &self.finalizer else {
            return self.call(object, run).await;
        };
        match Stage::of(object.meta(), &finalizer.name) {
            Stage::Active => self.call(object, run).await,
            Stage::Released => Ok(Outcome::done()),
            Stage::WithoutFinalizer => {
                match self
                    .add_finalizer(&object, &run.key, &finalizer.name)
                    .await?
                {
                    Some(object) => self.call(object, run).await,
                    None => Ok(Outcome::done()),
                }
            }
            Stage::CleaningUp => {
                let cx = self.context(&object, run.clone());
                let outcome = (finalizer.cleanup)(Arc::clone(&object), cx).await?;
                if outcome.next_run().is_none() {
                    self.remove_finalizer(&object, &run.key, &finalizer.name)
                        .await?;
                }
                Ok(outcome)
            }
        }
    }

    /// Returns the object with the finalizer, or `None` if it was deleted meanwhile.
    async fn add_finalizer(
        &self,
        object: &K,
        key: &ObjectKey,
        finalizer: &str,
    ) -> Result<Option<Arc<K>>> {
        let mut finalizers = object.meta().finalizers.clone().unwrap_or_default();
        finalizers.push(finalizer.to_owned());
        self.write_finalizers(object, key, &finalizers).await?;
        // The response of the write is in the cache.
        Ok(self.own.get(key)?)
    }

    /// Removes the finalizer from the newest state of the object, which the cleanup may have
    /// written.
    async fn remove_finalizer(&self, object: &K, key: &ObjectKey, finalizer: &str) -> Result<()> {
        let Some(newest) = self.own.get(key)? else {
            return Ok(());
        };
        if newest.meta().uid != object.meta().uid {
            return Ok(());
        }
        let mut finalizers = newest.meta().finalizers.clone().unwrap_or_default();
        finalizers.retain(|name| name != finalizer);
        self.write_finalizers(&newest, key, &finalizers).await
    }

    async fn write_finalizers(
        &self,
        object: &K,
        key: &ObjectKey,
        finalizers: &[String],
    ) -> Result<()> {
        let meta = object.meta();
        let change = FinalizerChange {
            key,
            uid: meta.uid.as_deref().unwrap_or_default(),
            resource_version: meta.resource_version.as_deref().unwrap_or_default(),
            finalizers,
        };
        let target = Target {
            resource: &self.environment.resource,
            store: Some(self.own.informer().store()),
        };
        let writer = &self.environment.writer;
        writer.patch_finalizers(target, change).await?;
        Ok(())
    }
}
