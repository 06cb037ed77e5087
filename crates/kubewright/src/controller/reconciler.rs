use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, ready};
use kubewright_core::ObjectKey;
use kubewright_runtime::cache::View;
use kubewright_runtime::controller::{Outcome, Run};

use super::AnyKind;
use super::builder::Reconcile;
use super::finalizer::Finalizer;
use crate::Result;
use crate::context::{Context, Shared};

pub(super) type Deleted = Arc<dyn Fn(ObjectKey) -> BoxFuture<'static, Result<()>> + Send + Sync>;

/// What happens when a key is due.
pub(super) struct Reconciling<K> {
    pub(super) own: View<K>,
    pub(super) shared: Arc<Shared>,
    pub(super) reconcile: Reconcile<K>,
    pub(super) finalizer: Option<Finalizer<K>>,
    pub(super) deleted: Option<Deleted>,
}

impl<K: AnyKind> Reconciling<K> {
    /// Looks the object up and calls the user's function for what became of it.
    pub(super) fn reconcile(self: Arc<Self>, run: Run) -> BoxFuture<'static, Result<Outcome>> {
        match self.own.get(&run.key) {
            Ok(Some(object)) => match &self.finalizer {
                Some(_) => Box::pin(self.step(object, run)),
                None => self.call(object, run),
            },
            Ok(None) => match &self.deleted {
                Some(deleted) => {
                    Box::pin(deleted(run.key).map(|done| done.map(|()| Outcome::done())))
                }
                None => Box::pin(ready(Ok(Outcome::done()))),
            },
            Err(error) => Box::pin(ready(Err(error.into()))),
        }
    }

    pub(super) fn call(&self, object: Arc<K>, run: Run) -> BoxFuture<'static, Result<Outcome>> {
        let cx = self.context(&object, run);
        (self.reconcile)(object, cx)
    }

    pub(super) fn context(&self, object: &Arc<K>, run: Run) -> Context<K> {
        Context::new(Arc::clone(&self.shared), run, Arc::clone(object))
    }
}
