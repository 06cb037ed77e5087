use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use parking_lot::RwLock;
use tokio::io::DuplexStream;

/// Opens a connection to a webhook server in this process.
pub type WebhookConnector =
    Arc<dyn Fn() -> BoxFuture<'static, io::Result<DuplexStream>> + Send + Sync>;

/// Webhook servers in this process, by the host that configurations name: `NAME.NAMESPACE.svc` for
/// a Service, the host of a `url` otherwise. Clones share them.
///
/// A host that is registered here is reached through its connector, over TLS like any other. What
/// is not is reached over TCP: a `url` at its host, a Service at its EndpointSlices on loopback.
#[derive(Clone, Default)]
pub struct WebhookEndpoints {
    endpoints: Arc<RwLock<BTreeMap<String, WebhookConnector>>>,
}

impl WebhookEndpoints {
    /// Reaches `host` through `connector` from now on.
    pub fn register(&self, host: impl Into<String>, connector: WebhookConnector) {
        self.endpoints.write().insert(host.into(), connector);
    }

    /// Forgets `host`.
    pub fn remove(&self, host: &str) {
        self.endpoints.write().remove(host);
    }

    pub(super) fn find(&self, host: &str) -> Option<WebhookConnector> {
        self.endpoints.read().get(host).cloned()
    }
}

impl fmt::Debug for WebhookEndpoints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.endpoints.read().keys()).finish()
    }
}
