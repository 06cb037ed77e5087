use std::fmt;

use crate::Choice;
use crate::real::Parts;

/// What a cluster can do for a test; a test names what it needs and is skipped elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Capability {
    /// Time is virtual: waiting costs nothing, and wall clock and timers move together.
    VirtualTime,
    /// Built-in objects get their defaults and are validated as Kubernetes does it.
    Defaults,
    /// The controllers of Kubernetes run: Deployments roll out, Jobs complete.
    Controllers,
    /// Expressions in CustomResourceDefinitions are evaluated.
    Cel,
    /// Requests of the operator under test can be made to fail, or to be carried out without an
    /// answer; watches can be cut; operators can crash.
    Faults,
    /// The Pods of a node can be held back, so that they do not start.
    HeldPods,
    /// A kubeconfig file leads to it, so that other programs can reach it.
    Kubeconfig,
    /// The API server can be restarted under the operators.
    Restarts,
}

impl Capability {
    /// What the cluster of that choice can do as `#[kubewright_testing::test]` starts it: a real
    /// one with the controllers of Kubernetes.
    pub const fn of(cluster: Choice) -> &'static [Self] {
        match cluster {
            Choice::Embedded => &[
                Self::VirtualTime,
                Self::Defaults,
                Self::Cel,
                Self::Faults,
                Self::HeldPods,
                Self::Kubeconfig,
                Self::Restarts,
            ],
            Choice::Real => &[
                Self::Defaults,
                Self::Controllers,
                Self::Cel,
                Self::Faults,
                Self::Kubeconfig,
                Self::Restarts,
            ],
            Choice::Existing => &[
                Self::Defaults,
                Self::Controllers,
                Self::Cel,
                Self::Faults,
                Self::Kubeconfig,
            ],
        }
    }

    /// What a real cluster can do that runs only these parts.
    pub(super) const fn of_real(parts: Parts) -> &'static [Self] {
        match parts {
            Parts::ApiServer => &[
                Self::Defaults,
                Self::Cel,
                Self::Faults,
                Self::Kubeconfig,
                Self::Restarts,
            ],
            Parts::Controllers | Parts::Nodes => Self::of(Choice::Real),
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
    use crate::Choice;
    use crate::real::Parts;

    #[test]
    fn a_real_cluster_has_controllers_only_where_they_run() {
        let without = Capability::of_real(Parts::ApiServer);
        assert!(!without.contains(&Capability::Controllers));
        assert!(without.contains(&Capability::Cel));
        for parts in [Parts::Controllers, Parts::Nodes] {
            assert_eq!(Capability::of_real(parts), Capability::of(Choice::Real));
        }
    }
}
