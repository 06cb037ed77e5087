//! The capabilities by which tests choose their clusters.

use std::fmt;

use crate::ClusterChoice;
use crate::real::Components;

/// A capability of a cluster. A test names those that it needs, and is skipped on other clusters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Capability {
    /// Time is virtual: waiting takes no real time, and wall clock and timers advance together.
    VirtualTime,
    /// Built-in kinds are defaulted and validated as in Kubernetes.
    Defaults,
    /// The controllers of Kubernetes run: Deployments roll out, Jobs complete.
    Controllers,
    /// Expressions in CustomResourceDefinitions are evaluated.
    Cel,
    /// Faults can be injected into requests of the operator under test; watches can be closed;
    /// operators can crash.
    Faults,
    /// The start of the Pods of a node can be delayed.
    HeldPods,
    /// Other programs can use the cluster by a kubeconfig file.
    Kubeconfig,
    /// The API server can be restarted while operators run.
    Restarts,
}

impl Capability {
    /// The capabilities of a cluster that `#[kubewright_testing::test]` starts: a real one runs the
    /// controllers of Kubernetes.
    pub const fn of(cluster: ClusterChoice) -> &'static [Self] {
        match cluster {
            ClusterChoice::Embedded => &[
                Self::VirtualTime,
                Self::Defaults,
                Self::Cel,
                Self::Faults,
                Self::HeldPods,
                Self::Kubeconfig,
                Self::Restarts,
            ],
            ClusterChoice::Real => &[
                Self::Defaults,
                Self::Controllers,
                Self::Cel,
                Self::Faults,
                Self::Kubeconfig,
                Self::Restarts,
            ],
            ClusterChoice::Existing => &[
                Self::Defaults,
                Self::Controllers,
                Self::Cel,
                Self::Faults,
                Self::Kubeconfig,
            ],
        }
    }

    /// The capabilities of a real cluster that runs these components.
    pub(super) const fn of_real(components: Components) -> &'static [Self] {
        match components {
            Components::ApiServer => &[
                Self::Defaults,
                Self::Cel,
                Self::Faults,
                Self::Kubeconfig,
                Self::Restarts,
            ],
            Components::Controllers | Components::Nodes => Self::of(ClusterChoice::Real),
        }
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::VirtualTime => "virtual time",
            Self::Defaults => "defaults and validation of built-in kinds",
            Self::Controllers => "the controllers of Kubernetes",
            Self::Cel => "CEL",
            Self::Faults => "faults",
            Self::HeldPods => "Pods that are held back",
            Self::Kubeconfig => "a kubeconfig file",
            Self::Restarts => "restarts of the API server",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Capability;
    use crate::ClusterChoice;
    use crate::real::Components;

    #[test]
    fn real_cluster_has_controllers_only_if_they_run() {
        let without = Capability::of_real(Components::ApiServer);
        assert!(!without.contains(&Capability::Controllers));
        assert!(without.contains(&Capability::Cel));
        for components in [Components::Controllers, Components::Nodes] {
            assert_eq!(
                Capability::of_real(components),
                Capability::of(ClusterChoice::Real)
            );
        }
    }
}
