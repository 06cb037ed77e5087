//! What the controllers of a running operator share.

use std::sync::Arc;

use kube::Client;
use kubewright_core::Clock;
use kubewright_runtime::NamespaceSet;
use kubewright_runtime::election::Leadership;
use kubewright_runtime::events::EventRecorder;
use kubewright_runtime::informer::Informers;
use kubewright_runtime::write::Writer;

/// What the controllers and tasks of a running operator share.
#[derive(Clone)]
pub(crate) struct Environment {
    pub(crate) informers: Informers,
    /// The client of the leader: its writes fail once another copy leads.
    pub(crate) client: Client,
    /// The client of every copy of the operator.
    pub(crate) unfenced: Client,
    pub(crate) leadership: Leadership,
    /// The prefix of the controllers' field managers.
    pub(crate) manager: String,
    pub(crate) clock: Clock,
    /// The namespaces that the operator is restricted to.
    pub(crate) namespaces: Option<NamespaceSet>,
    /// The namespace that the operator itself runs in.
    pub(crate) own_namespace: Arc<str>,
    pub(crate) events: EventRecorder,
}

impl Environment {
    /// Returns a writer whose field manager is that of one controller, so that two controllers do
    /// not take fields from each other.
    pub(crate) fn writer(&self, controller: &str) -> Writer {
        let manager = format!("{}/{controller}", self.manager);
        Writer::new(self.client.clone(), &manager)
    }

    /// Returns the environment of a controller that works on every copy of the operator.
    pub(crate) fn of_every_replica(&self) -> Self {
        Self {
            client: self.unfenced.clone(),
            leadership: Leadership::without_election(),
            ..self.clone()
        }
    }
}
