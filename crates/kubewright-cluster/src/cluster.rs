//! The assembled cluster: an API server with controllers, scheduler and kubelets.

use kubewright_apiserver::{Server, ServerOptions};
use tokio_util::sync::CancellationToken;

use crate::controller_manager::{Controllers, run};
use crate::kubelet::{NodeControl, PodControl, SharedKubeletSettings};

/// An API server with the controllers, the scheduler and the kubelets of a cluster. Clones are
/// handles to the same cluster.
///
/// The controllers start with [`Cluster::run`].
#[derive(Clone, Debug)]
pub struct Cluster {
    server: Server,
    kubelet_settings: SharedKubeletSettings,
}

impl Cluster {
    /// The cluster of a server.
    pub fn new(server: Server) -> Self {
        Self {
            server,
            kubelet_settings: SharedKubeletSettings::default(),
        }
    }

    /// The API server.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// Changes the behavior of Pods: which are held, fail, crash or are never ready.
    pub fn pods(&self) -> PodControl {
        PodControl::new(self.kubelet_settings.clone())
    }

    /// Stops and starts the kubelets of nodes.
    pub fn nodes(&self) -> NodeControl {
        NodeControl::new(self.kubelet_settings.clone())
    }

    /// A cluster with the same objects, history and kubelet settings, which shares no state with
    /// this one. See [`Server::fork_with`].
    #[must_use]
    pub fn fork_with(&self, options: ServerOptions) -> Self {
        Self {
            server: self.server.fork_with(options),
            kubelet_settings: self.kubelet_settings.fork(),
        }
    }

    /// Runs controllers until they are cancelled. A controller that panics is restarted.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future stops all controllers. Each write has then happened completely or not
    /// at all, and a later run continues from the stored state.
    pub async fn run(&self, controllers: &Controllers, cancel: CancellationToken) {
        run(&self.server, &self.kubelet_settings, controllers, cancel).await;
    }
}
