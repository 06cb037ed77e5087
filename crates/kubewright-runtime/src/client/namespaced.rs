//! Clients that are restricted to one namespace.

use std::sync::Arc;

use http::Request;
use kube::Client;
use kube::client::Body;
use kubewright_core::{Resource, Scope};
use kubewright_wire::route::{ResourceRoute, Route};

use super::{Blocked, RequestFilter, Transport};
use crate::Error;

/// Restricts a client to one namespace: requests for another namespace, or for all, are blocked.
///
/// `Api::default_namespaced` uses the namespace, too. A path alone does not show whether a kind is
/// cluster-scoped, so cluster-scoped kinds are allowed one by one, with [`and`](Self::and).
///
/// ```
/// use kubewright_core::{Kind, Resource, Scope};
/// use kubewright_runtime::client::Namespaced;
///
/// # fn with(client: kube::Client) {
/// let nodes = Resource::new(Kind::new("", "v1", "Node"), "nodes", Scope::Cluster);
/// let client = Namespaced::new("shop").and(nodes).wrap(&client);
/// assert_eq!(client.default_namespace(), "shop");
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Namespaced {
    namespace: Arc<str>,
    cluster_scoped: Arc<[Resource]>,
}

impl Namespaced {
    /// A restriction to this namespace.
    pub fn new(namespace: &str) -> Self {
        Self {
            namespace: namespace.into(),
            cluster_scoped: Arc::default(),
        }
    }

    /// Allows a cluster-scoped kind. A namespaced kind stays restricted to the namespace.
    #[must_use]
    pub fn and(self, kind: Resource) -> Self {
        let added = Some(kind).filter(|kind| kind.scope == Scope::Cluster);
        let cluster_scoped = self.cluster_scoped.iter().cloned().chain(added).collect();
        Self {
            cluster_scoped,
            ..self
        }
    }

    /// The client, restricted to the namespace, which is also its default namespace.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime, as kube's client does.
    pub fn wrap(self, client: &Client) -> Client {
        Transport::from(client.clone())
            .with_default_namespace(&*self.namespace)
            .client_with(self.layer())
    }

    fn allows(&self, route: &ResourceRoute) -> bool {
        let is_inside = route.namespace.as_deref() == Some(&*self.namespace);
        let is_allowed = |kind: &Resource| {
            kind.kind.group() == route.group.as_str() && kind.plural == route.plural
        };
        is_inside || self.cluster_scoped.iter().any(is_allowed)
    }
}

impl RequestFilter for Namespaced {
    type RequestState = ();

    fn before(&self, request: &mut Request<Body>) -> Result<(), Blocked> {
        let uri = request.uri();
        let route = Route::parse(request.method(), uri.path(), uri.query());
        // Discovery, health checks and the like concern no namespace.
        let is_allowed = route.resource().is_none_or(|route| self.allows(route));
        if is_allowed {
            return Ok(());
        }
        Err(Blocked::new(Error::OutOfNamespace {
            what: format!("{} {}", request.method(), uri.path()),
            namespace: self.namespace.to_string(),
        }))
    }
}

#[cfg(test)]
mod tests {
    use http::Request;
    use kube::client::Body;
    use kubewright_core::{Kind, Resource, Scope};

    use super::Namespaced;
    use crate::client::RequestFilter as _;

    fn passes(client: &Namespaced, path: &str) -> bool {
        let mut request = Request::get(path).body(Body::empty()).unwrap();
        client.before(&mut request).is_ok()
    }

    #[test]
    fn only_requests_in_the_namespace_or_for_allowed_kinds_pass() {
        let nodes = Resource::new(Kind::new("", "v1", "Node"), "nodes", Scope::Cluster);
        let pods = Resource::new(Kind::new("", "v1", "Pod"), "pods", Scope::Namespaced);
        let shop = Namespaced::new("shop").and(nodes).and(pods);
        for path in [
            "/api/v1/namespaces/shop/pods",
            "/apis/apps/v1/namespaces/shop/deployments/a/scale",
            "/api/v1/namespaces/shop",
            "/api/v1/nodes/n",
            "/apis",
            "/version",
        ] {
            assert!(passes(&shop, path), "{path}");
        }
        for path in [
            "/api/v1/namespaces/web/pods",
            "/api/v1/pods",
            "/api/v1/namespaces/web",
            "/api/v1/namespaces",
            "/apis/metrics.k8s.io/v1/nodes/n",
        ] {
            assert!(!passes(&shop, path), "{path}");
        }
    }
}
