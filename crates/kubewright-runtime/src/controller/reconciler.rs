//! The reconcile function and what it is called with.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use kubewright_core::ObjectKey;

use super::{Failure, Outcome};

/// Brings the cluster closer to the desired state of one object.
pub type Reconciler =
    Arc<dyn Fn(Run) -> BoxFuture<'static, Result<Outcome, Failure>> + Send + Sync>;

/// One call of a [`Reconciler`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Run {
    /// The object to reconcile.
    pub key: ObjectKey,
    /// The number of the run, unique in this process; `reconcile_id` in the log.
    pub id: u64,
}

impl Run {
    pub(super) fn new(key: ObjectKey, id: u64) -> Self {
        Self { key, id }
    }
}
