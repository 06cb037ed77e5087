//! The options of a real control plane.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The options with which a real control plane is started.
///
/// RBAC is always the last authorizer; anonymous requests are always disabled.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct RealOptions {
    /// The programs that run.
    pub components: Components,
    /// Kubernetes' feature gates, for all programs.
    pub feature_gates: BTreeMap<String, bool>,
    /// Admission plugins that are enabled besides the default ones.
    pub enable_admission: BTreeSet<String>,
    /// Admission plugins that are disabled.
    pub disable_admission: BTreeSet<String>,
    /// A webhook that authorizes requests before RBAC.
    pub authorizer: Option<AuthorizerAddress>,
    /// Additional flags of kube-apiserver, such as `--max-requests-inflight=10`.
    pub api_server_flags: Vec<String>,
}

/// The address of an authorization webhook. If a call fails, RBAC decides.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AuthorizerAddress {
    /// Its URL.
    pub url: String,
    /// The authorities (PEM) that its certificate is verified with.
    pub ca_pem: String,
}

impl AuthorizerAddress {
    /// The timeout of a call.
    pub(crate) const TIMEOUT: Duration = Duration::from_secs(3);
}

/// The programs of a control plane that run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Components {
    /// etcd and kube-apiserver: only clients change objects.
    #[default]
    ApiServer,
    /// Also kube-controller-manager: garbage collection, namespaces, Deployments.
    Controllers,
    /// Also kube-scheduler and kwok, so that Pods run on simulated nodes.
    Nodes,
}
