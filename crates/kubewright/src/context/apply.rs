use std::fmt;
use std::future::IntoFuture;
use std::marker::PhantomData;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use kubewright_core::OwnerReference;
use kubewright_runtime::write::{Intent, Target, WriteError};
use kubewright_wire::record::Record;

use super::Shared;
use crate::registration::{TypedKind, resource_of};
use crate::{Error, Result};

/// An apply that is done when it is awaited; made by [`Context::apply`](super::Context::apply).
///
/// # Cancel safety
///
/// Dropped before its end, the object may or may not have been written; trying again is safe.
#[must_use = "an apply does nothing until it is awaited"]
pub struct Apply<W> {
    shared: Arc<Shared>,
    intent: Result<Intent, WriteError>,
    owner: Option<OwnerReference>,
    namespace: Option<String>,
    kind: PhantomData<fn() -> W>,
}

impl<W: TypedKind> Apply<W> {
    pub(super) fn new(
        shared: Arc<Shared>,
        object: &W,
        namespace: Option<&str>,
        owner: OwnerReference,
    ) -> Self {
        Self {
            shared,
            intent: Intent::new(&resource_of::<W>(), object, namespace),
            owner: Some(owner),
            namespace: namespace.map(str::to_owned),
            kind: PhantomData,
        }
    }

    /// Leaves the owner out: the object stays when the reconciled one goes.
    pub fn unowned(mut self) -> Self {
        self.owner = None;
        self
    }

    async fn send(self) -> Result<Arc<W>> {
        let resource = resource_of::<W>();
        let target = Target {
            resource: &resource,
            store: self.shared.views.store::<W>(),
        };
        let mut intent = self.intent?;
        if let Some(owner) = &self.owner {
            let refuse = |why| Error::Refused {
                what: format!("apply {} {}", resource.qualified_name(), intent.key()),
                why,
            };
            let present = target.store.and_then(|store| store.get(intent.key()));
            if present.is_some_and(|record| !is_controlled_by(&record, &owner.uid)) {
                return Err(refuse(FOREIGN).into());
            }
            // Kubernetes' garbage collector deletes dependents whose owner it cannot see.
            let namespace = self.namespace.as_deref();
            if namespace.is_some() && namespace != intent.key().namespace() {
                return Err(refuse(ELSEWHERE).into());
            }
            intent = intent.owned_by(owner);
        }
        let record = self.shared.writer.apply(target, &intent).await?;
        Ok(Arc::new(record.decode()?))
    }
}

const FOREIGN: &str = "an object of that name is there and belongs to somebody else; choose another \
                       name, delete that object, or share it with .unowned()";
const ELSEWHERE: &str = "an object in a namespace owns only objects of that namespace; apply it with \
                         .unowned() and delete it with a finalizer";

fn is_controlled_by(record: &Record, uid: &str) -> bool {
    record
        .owner_references()
        .is_ok_and(|all| all.iter().any(|one| one.is_controller() && one.uid == uid))
}

impl<W: TypedKind> IntoFuture for Apply<W> {
    type Output = Result<Arc<W>>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.send())
    }
}

impl<W> fmt::Debug for Apply<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Apply")
            .field("intent", &self.intent)
            .field("owner", &self.owner)
            .finish_non_exhaustive()
    }
}
