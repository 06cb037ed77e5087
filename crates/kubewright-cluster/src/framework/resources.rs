//! The built-in resources that controllers write.

use std::sync::LazyLock;

use kubewright_apiserver::store::{Key, Object};
use kubewright_core::{GroupVersion, Kind, Resource, Scope};

use super::fields::text;

pub(crate) static CLUSTER_ROLES: LazyLock<Resource> = LazyLock::new(|| {
    let kind = Kind::new("rbac.authorization.k8s.io", "v1", "ClusterRole");
    Resource::new(kind, "clusterroles", Scope::Cluster)
});
pub(crate) static CONFIG_MAPS: LazyLock<Resource> =
    LazyLock::new(|| namespaced("", "ConfigMap", "configmaps"));
pub(crate) static DEPLOYMENTS: LazyLock<Resource> =
    LazyLock::new(|| namespaced("apps", "Deployment", "deployments"));
pub(crate) static ENDPOINT_SLICES: LazyLock<Resource> =
    LazyLock::new(|| namespaced("discovery.k8s.io", "EndpointSlice", "endpointslices"));
pub(crate) static EVENTS: LazyLock<Resource> = LazyLock::new(|| namespaced("", "Event", "events"));
pub(crate) static LEASES: LazyLock<Resource> =
    LazyLock::new(|| namespaced("coordination.k8s.io", "Lease", "leases"));
pub(crate) static NAMESPACES: LazyLock<Resource> = LazyLock::new(|| {
    let kind = Kind::new("", "v1", "Namespace");
    Resource::new(kind, "namespaces", Scope::Cluster)
});
pub(crate) static NODES: LazyLock<Resource> = LazyLock::new(|| {
    let kind = Kind::new("", "v1", "Node");
    Resource::new(kind, "nodes", Scope::Cluster)
});
pub(crate) static PODS: LazyLock<Resource> = LazyLock::new(|| namespaced("", "Pod", "pods"));
pub(crate) static POD_DISRUPTION_BUDGETS: LazyLock<Resource> =
    LazyLock::new(|| namespaced("policy", "PodDisruptionBudget", "poddisruptionbudgets"));
pub(crate) static REPLICA_SETS: LazyLock<Resource> =
    LazyLock::new(|| namespaced("apps", "ReplicaSet", "replicasets"));
pub(crate) static RESOURCE_QUOTAS: LazyLock<Resource> =
    LazyLock::new(|| namespaced("", "ResourceQuota", "resourcequotas"));
pub(crate) static SERVICE_ACCOUNTS: LazyLock<Resource> =
    LazyLock::new(|| namespaced("", "ServiceAccount", "serviceaccounts"));
pub(crate) static SERVICES: LazyLock<Resource> =
    LazyLock::new(|| namespaced("", "Service", "services"));

fn namespaced(group: &str, kind: &str, plural: &str) -> Resource {
    Resource::new(Kind::new(group, "v1", kind), plural, Scope::Namespaced)
}

/// The resource of a stored object of any kind.
pub(crate) fn resource_of(key: &Key, object: &Object) -> Resource {
    let plural = match key.resource().split_once('.') {
        Some((plural, _)) => plural,
        None => key.resource(),
    };
    let scope = match key.namespace() {
        Some(_) => Scope::Namespaced,
        None => Scope::Cluster,
    };
    let kind = Kind {
        group_version: GroupVersion::from_api_version(text(object.value(), "/apiVersion")),
        kind: text(object.value(), "/kind").to_owned(),
    };
    Resource::new(kind, plural, scope)
}
