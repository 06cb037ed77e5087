//! The functions of the user that a controller calls.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use kubewright_core::ObjectKey;
use kubewright_runtime::controller::Outcome;

use crate::Result;
use crate::context::Context;

/// Reconciles an object, or cleans up after it.
pub(super) type ReconcileFn<K> =
    Arc<dyn Fn(Arc<K>, Context<K>) -> BoxFuture<'static, Result<Outcome>> + Send + Sync>;

/// Runs for the key of an object that no longer exists.
pub(super) type DeletedFn = Arc<dyn Fn(ObjectKey) -> BoxFuture<'static, Result<()>> + Send + Sync>;
