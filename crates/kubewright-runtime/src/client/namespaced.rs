use std::sync::Arc;

use http::Request;
use kube::Client;
use kube::client::Body;
use kubewright_core::{Resource, Scope};
use kubewright_wire::route::{ResourceRoute, Route};

use super::{Blocked, ClientService, Guard, Guarded};
use crate::Error;

/// Keeps a client in one namespace: what is asked of another, or of all, is not sent.
///
/// The namespace is also the one that `Api::default_namespaced` means. A path does not tell whether
/// a kind is in no namespace at all, so those that may be asked for are named.
///
/// ```
/// use kubewright_core::{Kind, Resource, Scope};
/// use kubewright_runtime::client::Namespaced;
///
/// # fn with(client: kube::Client) {
/// let nodes = Resource::new(Kind::new("", "v1", "Node"), "nodes", Scope::Cluster);
/// let client = Namespaced::new("shop").and(nodes).guard(client);
/// assert_eq!(client.default_namespace(), "shop");
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Namespaced {
    namespace: Arc<str>,
    cluster: Arc<[Resource]>,
}

impl Namespaced {
    /// Only in this namespace.
    pub fn new(namespace: &str) -> Self {
        Self {
            namespace: namespace.into(),
            cluster: Arc::default(),
        }
    }

    /// Also a kind that is in no namespace; one that is in namespaces stays in this one.
    #[must_use]
    pub fn and(self, kind: Resource) -> Self {
        let further = Some(kind).filter(|kind| kind.scope == Scope::Cluster);
        let cluster = self.cluster.iter().cloned().chain(further).collect();
        Self { cluster, ..self }
    }

    /// The same client, kept in the namespace.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime, as kube's client does.
    pub fn guard(self, client: Client) -> Client {
        let namespace = self.namespace.to_string();
        let service = Guarded::new(self, ClientService::new(client.clone()));
        Client::new(service, namespace).with_valid_until(*client.valid_until())
    }

    fn allows(&self, route: &ResourceRoute) -> bool {
        let is_inside = route.namespace.as_deref() == Some(&*self.namespace);
        let is_named =
            |one: &Resource| one.kind.group() == route.group.as_str() && one.plural == route.plural;
        is_inside || self.cluster.iter().any(is_named)
    }
}

impl Guard for Namespaced {
    type Noted = ();

    fn before(&self, request: &mut Request<Body>) -> Result<(), Blocked> {
        let uri = request.uri();
        let route = Route::parse(request.method(), uri.path(), uri.query());
        // Discovery and the like are about no namespace.
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
    use crate::client::Guard as _;

    fn passes(client: &Namespaced, path: &str) -> bool {
        let mut request = Request::get(path).body(Body::empty()).unwrap();
        client.before(&mut request).is_ok()
    }

    #[test]
    fn only_what_is_in_the_namespace_or_named_is_asked_for() {
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
