use kubewright_runtime::election::ElectionTimes;

/// That copies of an operator agree by a Lease which of them works: see
/// [`Operator::leader_election`](super::Operator::leader_election).
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
    /// By another Lease than that of the operator's name, in the namespace that it runs in.
    #[must_use]
    pub fn lease(mut self, name: impl Into<String>) -> Self {
        self.lease = Some(name.into());
        self
    }

    /// With other times than 15 s for the Lease, 10 s for the deadline of a renewal and 2 s
    /// between two tries.
    #[must_use]
    pub fn times(mut self, times: ElectionTimes) -> Self {
        self.times = times;
        self
    }
}
