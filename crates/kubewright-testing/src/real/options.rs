use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// How a real control plane is started.
///
/// RBAC is always on, as the last to be asked; anonymous requests are always off.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct RealOptions {
    /// Which programs run.
    pub parts: Parts,
    /// Kubernetes' feature gates, for all programs.
    pub feature_gates: BTreeMap<String, bool>,
    /// Admission plugins switched on beside the default ones.
    pub enable_admission: BTreeSet<String>,
    /// Admission plugins switched off.
    pub disable_admission: BTreeSet<String>,
    /// Who is asked before the roles what users may do.
    pub authorizer: Option<AuthorizerAddress>,
    /// Further flags of kube-apiserver, such as `--max-requests-inflight=10`.
    pub api_server_flags: Vec<String>,
}

/// Where an authorization webhook is. When it cannot be asked, the roles decide.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AuthorizerAddress {
    /// Its address.
    pub url: String,
    /// The authorities (PEM) that vouch for it.
    pub ca_pem: String,
}

impl AuthorizerAddress {
    /// How long it may take.
    pub(crate) const TIMEOUT: Duration = Duration::from_secs(3);
}

/// Which programs of a control plane run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Parts {
    /// etcd and kube-apiserver: nothing happens that a client does not do.
    #[default]
    ApiServer,
    /// Also kube-controller-manager: owners, namespaces, Deployments.
    Controllers,
    /// Also kube-scheduler and kwok, so that Pods run on nodes that are only objects.
    Nodes,
}
