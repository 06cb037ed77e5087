//! Leader election: its registration, and the options of one copy.

use std::fmt;

use kubewright_runtime::client::Transport;
use kubewright_runtime::election::ElectionTimes;

/// The election of a leader among the copies of an operator: see
/// [`Operator::leader_election`](crate::Operator::leader_election).
///
/// ```
/// use kubewright::prelude::*;
/// use kubewright::election::LeaderElection;
///
/// let operator = Operator::new("site").leader_election(LeaderElection::default());
/// assert_eq!(operator.description().lease.as_deref(), Some("site"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeaderElection {
    pub(super) lease: Option<String>,
    pub(super) times: ElectionTimes,
}

impl LeaderElection {
    /// Sets the name of the Lease, by default that of the operator. It is in the operator's own
    /// namespace.
    #[must_use]
    pub fn lease(mut self, name: impl Into<String>) -> Self {
        self.lease = Some(name.into());
        self
    }

    /// Sets the times. The defaults are 15 s for the Lease, 10 s for the deadline of a renewal and
    /// 2 s between two attempts.
    #[must_use]
    pub fn times(mut self, times: ElectionTimes) -> Self {
        self.times = times;
        self
    }
}

/// The options of one copy in the election of a leader.
#[derive(Clone)]
pub struct ElectionOptions {
    /// The namespace of the Lease: the operator's own.
    pub namespace: String,
    /// The identity of this copy; the default is unique.
    pub identity: Option<String>,
    /// Connections for the election alone, so that a renewal does not wait behind other requests.
    /// The default is those of the operator.
    pub transport: Option<Transport>,
}

impl ElectionOptions {
    /// Returns the default options for a namespace.
    pub fn new(namespace: impl Into<String>) -> Self {
        Self {
            namespace: namespace.into(),
            identity: None,
            transport: None,
        }
    }
}

impl fmt::Debug for ElectionOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ElectionOptions")
            .field("namespace", &self.namespace)
            .field("identity", &self.identity)
            .finish_non_exhaustive()
    }
}
