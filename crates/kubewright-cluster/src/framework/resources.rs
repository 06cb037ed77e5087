//! The built-in resources that controllers write.

use std::sync::LazyLock;

use kubewright_apiserver::store::{Key, Object};
use kubewright_core::{GroupVersion, Kind, Resource, Scope};
use kubewright_kinds::{BuiltinKind, apps, coordination, core, discovery, policy, rbac};

use super::fields::text;

pub(crate) static CLUSTER_ROLES: LazyLock<Resource> =
    LazyLock::new(|| cluster_scoped(&rbac::CLUSTER_ROLE));
pub(crate) static CONFIG_MAPS: LazyLock<Resource> = LazyLock::new(|| namespaced(&core::CONFIG_MAP));
pub(crate) static DEPLOYMENTS: LazyLock<Resource> = LazyLock::new(|| namespaced(&apps::DEPLOYMENT));
pub(crate) static ENDPOINT_SLICES: LazyLock<Resource> =
    LazyLock::new(|| namespaced(&discovery::ENDPOINT_SLICE));
pub(crate) static EVENTS: LazyLock<Resource> = LazyLock::new(|| namespaced(&core::EVENT));
pub(crate) static LEASES: LazyLock<Resource> = LazyLock::new(|| namespaced(&coordination::LEASE));
pub(crate) static NAMESPACES: LazyLock<Resource> =
    LazyLock::new(|| cluster_scoped(&core::NAMESPACE));
pub(crate) static NODES: LazyLock<Resource> = LazyLock::new(|| cluster_scoped(&core::NODE));
pub(crate) static PODS: LazyLock<Resource> = LazyLock::new(|| namespaced(&core::POD));
pub(crate) static POD_DISRUPTION_BUDGETS: LazyLock<Resource> =
    LazyLock::new(|| namespaced(&policy::POD_DISRUPTION_BUDGET));
pub(crate) static REPLICA_SETS: LazyLock<Resource> =
    LazyLock::new(|| namespaced(&apps::REPLICA_SET));
pub(crate) static RESOURCE_QUOTAS: LazyLock<Resource> =
    LazyLock::new(|| namespaced(&core::RESOURCE_QUOTA));
pub(crate) static SERVICE_ACCOUNTS: LazyLock<Resource> =
    LazyLock::new(|| namespaced(&core::SERVICE_ACCOUNT));
pub(crate) static SERVICES: LazyLock<Resource> = LazyLock::new(|| namespaced(&core::SERVICE));

fn namespaced(kind: &BuiltinKind) -> Resource {
    Resource::new(kind.in_version("v1"), kind.plural, Scope::Namespaced)
}

fn cluster_scoped(kind: &BuiltinKind) -> Resource {
    Resource::new(kind.in_version("v1"), kind.plural, Scope::Cluster)
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
