//! The layers that all requests of an operator pass.

use std::sync::Arc;

use kubewright_runtime::client::{ClientLimits, RequestFilter as _, RequestMetrics, Transport};
use kubewright_runtime::reconcile_loop::WriteTrackerLayer;
use tower::ServiceBuilder;

use crate::permissions::Permissions;

/// A layer that the user added.
pub(super) type ClientLayer = Arc<dyn Fn(Transport) -> Transport + Send + Sync>;

/// The layers of an operator's clients. All clients of an operator share permissions and metrics.
pub(super) struct ClientStack {
    pub(super) permissions: Permissions,
    pub(super) requests: RequestMetrics,
    /// The first layer is the outermost.
    pub(super) user_layers: Vec<ClientLayer>,
}

impl ClientStack {
    /// Returns the transport with the layers around it.
    pub(super) fn wrap(&self, transport: Transport, limits: Option<ClientLimits>) -> Transport {
        let layers = ServiceBuilder::new()
            .layer(self.permissions.clone().layer())
            .layer(WriteTrackerLayer)
            .layer(self.requests.clone().layer())
            .option_layer(limits.map(ClientLimits::layer));
        let inner = transport.layer(layers.into_inner());
        let innermost_first = self.user_layers.iter().rev();
        innermost_first.fold(inner, |transport, layer| layer(transport))
    }
}
