//! What all runs of one controller share.

use std::sync::Arc;

use kube::Client;
use kubewright_core::{Clock, Resource};
use kubewright_runtime::NamespaceSet;
use kubewright_runtime::controller::Handle;
use kubewright_runtime::events::EventRecorder;
use kubewright_runtime::informer::Informers;
use kubewright_runtime::write::{Target, Writer};

use crate::kinds::{ViewId, Views};

/// What all runs of one controller share.
pub(crate) struct ReconcileEnvironment {
    pub(crate) resource: Resource,
    /// The view of the controller's own kind.
    pub(crate) own: ViewId,
    pub(crate) views: Views,
    pub(crate) writer: Writer,
    pub(crate) informers: Informers,
    pub(crate) client: Client,
    pub(crate) clock: Clock,
    /// The namespaces that the operator is restricted to.
    pub(crate) namespaces: Option<NamespaceSet>,
    /// The namespace that the operator itself runs in.
    pub(crate) own_namespace: Arc<str>,
    pub(crate) controller: Handle,
    pub(crate) events: EventRecorder,
}

impl ReconcileEnvironment {
    /// Returns the target of writes to the reconciled object.
    pub(super) fn own_target(&self) -> Target<'_> {
        Target {
            resource: &self.resource,
            store: self.views.store(&self.own, &self.resource),
        }
    }
}
