//! What a webhook's function can use besides the request: cached kinds, and the check of
//! idempotence.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use kubewright_runtime::informer::Informer;
use kubewright_wire::status::Status;
use tokio::time::{Instant, timeout_at};

use crate::kinds::Views;

/// Whether each mutating webhook is checked to be idempotent, as Kubernetes requires: the API
/// server may call it again with its own result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IdempotenceCheck {
    /// The function is called once per request.
    #[default]
    Off,
    /// The function is called twice. The request fails if the second call changes the result of the
    /// first.
    On,
}

/// What a webhook's function can use besides the request.
#[derive(Clone, Debug)]
pub(super) struct HandlerEnvironment {
    views: Arc<Views>,
    informers: Arc<[Informer]>,
    pub(super) idempotence: IdempotenceCheck,
}

impl HandlerEnvironment {
    pub(super) fn new(views: Views, informers: Vec<Informer>) -> Self {
        Self {
            views: Arc::new(views),
            informers: informers.into(),
            idempotence: IdempotenceCheck::Off,
        }
    }

    /// Returns the views of the kinds that the webhook reads.
    pub(super) fn views(&self) -> &Views {
        &self.views
    }

    /// Waits until all caches are filled: a webhook must not decide on an incomplete cache.
    pub(super) async fn synced(&self, deadline: Instant) -> Result<(), Status> {
        for informer in self.informers.iter() {
            let failed = |why: &str| {
                let kind = &informer.spec().resource.plural;
                Status::internal(format!("the cache of {kind} {why}"))
            };
            match timeout_at(deadline, informer.synced()).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) => return Err(failed("was stopped before it was filled")),
                Err(_) => return Err(failed("was not filled in time")),
            }
        }
        Ok(())
    }
}

/// The environment of a webhook that reads no kinds.
impl Default for HandlerEnvironment {
    fn default() -> Self {
        let views = Views::new("webhook", HashMap::new(), HashSet::new());
        Self::new(views, Vec::new())
    }
}
