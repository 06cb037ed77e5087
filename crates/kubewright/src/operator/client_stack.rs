//! The layers that all requests of an operator pass.

use std::sync::Arc;

use kubewright_runtime::client::{ClientLimits, RequestFilter as _, RequestMetrics, Transport};
use kubewright_runtime::reconcile_loop::WriteTrackerLayer;
use tower::ServiceBuilder;

use crate::permission::Permissions;

/// A layer that the user has added.
pub(super) type ClientLayer = Arc<dyn Fn(Transport) -> Transport + Send + Sync>;

/// The layers of an operator's clients. Further clients of the same operator share the rules and
/// the counts.
pub(super) struct ClientStack {
    pub(super) permissions: Permissions,
    pub(super) requests: RequestMetrics,
    /// The first one is the outermost.
    pub(super) user_layers: Vec<ClientLayer>,
}

impl ClientStack {
    /// The connections behind the layers.
    pub(super) fn wrap(&self, transport: Transport, limits: Option<ClientLimits>) -> Transport {
        let layers = ServiceBuilder::new()
            .layer(self.permissions.clone().layer())
            .layer(WriteTrackerLayer)
            .layer(self.requests.clone().layer())
            .option_layer(limits.map(ClientLimits::layer));
        let transport = transport.layer(layers.into_inner());
        let from_inside = self.user_layers.iter().rev();
        from_inside.fold(transport, |transport, layer| layer(transport))
    }
}
