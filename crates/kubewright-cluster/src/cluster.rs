//! The assembled cluster: an API server and what acts on its objects.

use kubewright_apiserver::{Server, ServerOptions};
use tokio_util::sync::CancellationToken;

use super::Controllers;
use super::orders::{NodeControl, OrderBook, PodControl};
use super::run::run;

/// An API server with the controllers, the scheduler and the kubelets of a cluster. Clones are
/// handles to the same cluster.
///
/// Nothing acts before [`Cluster::run`].
#[derive(Clone, Debug)]
pub struct Cluster {
    server: Server,
    orders: OrderBook,
}

impl Cluster {
    /// The cluster of a server.
    pub fn new(server: Server) -> Self {
        Self {
            server,
            orders: OrderBook::default(),
        }
    }

    /// The API server.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// Decides what becomes of Pods: which are held, fail, crash, are never ready.
    pub fn pods(&self) -> PodControl {
        PodControl::new(self.orders.clone())
    }

    /// Stops and starts the kubelets of nodes.
    pub fn nodes(&self) -> NodeControl {
        NodeControl::new(self.orders.clone())
    }

    /// A cluster with the same objects, history and orders, which shares nothing that changes.
    /// See [`Server::fork_with`].
    #[must_use]
    pub fn fork_with(&self, options: ServerOptions) -> Self {
        Self {
            server: self.server.fork_with(options),
            orders: self.orders.fork(),
        }
    }

    /// Runs controllers until it is cancelled.
    ///
    /// # Cancel safety
    ///
    /// Dropping this stops everything. Each write has then happened whole or not at all, and a
    /// later run continues from what is stored.
    pub async fn run(&self, controllers: &Controllers, cancel: CancellationToken) {
        run(&self.server, &self.orders, controllers, cancel).await;
    }
}
