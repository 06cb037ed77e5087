//! An entry of the table of controllers.

use std::pin::Pin;

use kubewright_apiserver::Server;
use tokio_util::sync::CancellationToken;

use crate::framework::{Client, ControlLoop, Identity, run_loop};
use crate::kubelet::SharedKubeletSettings;

/// A controller, the scheduler or the kubelets, and how it starts.
#[derive(Clone, Copy, Debug)]
pub(super) struct ControllerEntry {
    /// The name in Kubernetes, by which it is enabled and disabled.
    pub(super) name: &'static str,
    pub(super) identity: Identity,
    pub(super) field_manager: &'static str,
    /// `source.component` of its events.
    pub(super) event_component: &'static str,
    pub(super) start: StartFn,
}

/// Starts a control loop with its client. The future ends when the loop is cancelled.
pub(super) type StartFn = fn(&StartContext, Client, CancellationToken) -> LoopFuture;

/// A running control loop.
pub(super) type LoopFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

/// What control loops are started with.
#[derive(Clone, Debug)]
pub(super) struct StartContext {
    pub(super) server: Server,
    pub(super) kubelet_settings: SharedKubeletSettings,
    pub(super) root_certificate_pem: String,
    pub(super) records_events: bool,
}

impl ControllerEntry {
    /// The control loop of this entry.
    pub(super) fn start(&self, context: &StartContext, cancel: CancellationToken) -> LoopFuture {
        let client = Client::new(context.server.clone(), self.identity, self.field_manager);
        let client = if context.records_events {
            client.recording_as(self.event_component)
        } else {
            client
        };
        (self.start)(context, client, cancel)
    }
}

/// Starts a control loop that needs nothing but its client.
pub(super) fn start_default<L: ControlLoop + Default + 'static>(
    _: &StartContext,
    client: Client,
    cancel: CancellationToken,
) -> LoopFuture {
    Box::pin(run_loop(client, L::default, cancel))
}
