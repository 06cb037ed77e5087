use std::fmt;

use crate::Choice;

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
    /// Expressions in CustomResourceDefinitions and policies are evaluated.
    Cel,
    /// A kubeconfig file leads to it, so that other programs can reach it.
    Kubeconfig,
}

impl Capability {
    /// What the cluster of that choice can do.
    pub const fn of(cluster: Choice) -> &'static [Self] {
        match cluster {
            Choice::Embedded => &[Self::VirtualTime],
            Choice::Real => &[
                Self::Defaults,
                Self::Controllers,
                Self::Cel,
                Self::Kubeconfig,
            ],
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
            Self::Kubeconfig => "a kubeconfig file",
        })
    }
}
