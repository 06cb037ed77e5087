//! Webhook servers in this process.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::BoxFuture;
use parking_lot::RwLock;
use tokio::io::DuplexStream;

/// Opens a connection to a webhook server in this process.
pub type WebhookConnector =
    Arc<dyn Fn() -> BoxFuture<'static, io::Result<DuplexStream>> + Send + Sync>;

/// Webhook servers in this process, by the host that configurations name: `NAME.NAMESPACE.svc` for
/// a Service, the host of a `url` otherwise. Clones share them.
///
/// A registered host is reached through its connectors, over TLS like any other. Other hosts are
/// reached over TCP: a `url` at its host, a Service at its EndpointSlices on loopback.
#[derive(Clone, Default)]
pub struct WebhookEndpoints {
    endpoints: Arc<RwLock<BTreeMap<String, Replicas>>>,
}

/// Identifies one connector, to unregister it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookEndpoint {
    host: String,
    number: usize,
}

/// The servers of one host, which are used in rotation.
#[derive(Default)]
struct Replicas {
    connectors: Vec<(usize, WebhookConnector)>,
    /// The number of the next connector. Numbers are not reused.
    next_number: usize,
    /// Counts lookups, for the rotation.
    lookups: AtomicUsize,
}

impl WebhookEndpoints {
    /// Replaces the connectors of `host` with `connector`.
    pub fn register(
        &self,
        host: impl Into<String>,
        connector: WebhookConnector,
    ) -> WebhookEndpoint {
        let host = host.into();
        self.remove(&host);
        self.add(host, connector)
    }

    /// Adds a connector of `host`. New connections use the connectors in rotation; when a connector
    /// fails, the next is tried.
    pub fn add(&self, host: impl Into<String>, connector: WebhookConnector) -> WebhookEndpoint {
        let host = host.into();
        let mut endpoints = self.endpoints.write();
        let replicas = endpoints.entry(host.clone()).or_default();
        let number = replicas.next_number;
        replicas.next_number += 1;
        replicas.connectors.push((number, connector));
        WebhookEndpoint { host, number }
    }

    /// Unregisters one connector of a host.
    pub fn unregister(&self, endpoint: &WebhookEndpoint) {
        if let Some(replicas) = self.endpoints.write().get_mut(&endpoint.host) {
            let others = |(number, _): &(usize, WebhookConnector)| *number != endpoint.number;
            replicas.connectors.retain(others);
        }
    }

    /// Unregisters all connectors of `host`.
    pub fn remove(&self, host: &str) {
        if let Some(replicas) = self.endpoints.write().get_mut(host) {
            replicas.connectors.clear();
        }
    }

    /// The connectors of a host, in the order in which to try them.
    pub(super) fn find(&self, host: &str) -> Vec<WebhookConnector> {
        let endpoints = self.endpoints.read();
        let Some(replicas) = endpoints.get(host) else {
            return Vec::new();
        };
        let connectors = replicas.connectors.iter();
        let mut all: Vec<_> = connectors
            .map(|(_, connector)| Arc::clone(connector))
            .collect();
        if all.len() > 1 {
            let lookups = replicas.lookups.fetch_add(1, Ordering::Relaxed);
            let first = lookups % all.len();
            all.rotate_left(first);
        }
        all
    }
}

impl fmt::Debug for WebhookEndpoints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let endpoints = self.endpoints.read();
        let counts = endpoints
            .iter()
            .map(|(host, replicas)| (host, replicas.connectors.len()));
        f.debug_map().entries(counts).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Arc;

    use futures_util::FutureExt as _;

    use super::{WebhookConnector, WebhookEndpoints};

    fn named(name: &'static str) -> WebhookConnector {
        Arc::new(move || async move { Err(io::Error::other(name)) }.boxed())
    }

    /// The names of the connectors, in the order in which they are tried.
    fn tried(endpoints: &WebhookEndpoints) -> Vec<String> {
        let connectors = endpoints.find("h").into_iter();
        let results = connectors.map(|connector| connector().now_or_never().unwrap());
        results
            .map(|result| result.unwrap_err().to_string())
            .collect()
    }

    #[test]
    fn connectors_of_a_host_are_used_in_rotation_until_unregistered() {
        let endpoints = WebhookEndpoints::default();
        assert!(tried(&endpoints).is_empty());
        endpoints.register("h", named("a"));
        let b = endpoints.add("h", named("b"));
        assert_eq!(tried(&endpoints), ["a", "b"]);
        assert_eq!(tried(&endpoints), ["b", "a"]);
        endpoints.unregister(&b);
        assert_eq!(tried(&endpoints), ["a"]);
        endpoints.add("h", named("c"));
        endpoints.unregister(&b);
        assert_eq!(tried(&endpoints).len(), 2, "numbers are not reused");
        endpoints.register("h", named("d"));
        assert_eq!(tried(&endpoints), ["d"]);
        endpoints.remove("h");
        assert!(tried(&endpoints).is_empty());
    }
}
