//! The programs of a control plane.

/// A program of a control plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Program {
    /// The database.
    Etcd,
    /// The API server.
    ApiServer,
    /// The command-line client.
    Kubectl,
    /// The built-in controllers.
    ControllerManager,
    /// The scheduler, which assigns Pods to nodes.
    Scheduler,
    /// The kubelets of simulated nodes.
    Kwok,
}

impl Program {
    /// All programs, in the order in which they are built.
    pub const ALL: [Self; 6] = [
        Self::Etcd,
        Self::ApiServer,
        Self::Kubectl,
        Self::ControllerManager,
        Self::Scheduler,
        Self::Kwok,
    ];

    /// The name of the file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Etcd => "etcd",
            Self::ApiServer => "kube-apiserver",
            Self::Kubectl => "kubectl",
            Self::ControllerManager => "kube-controller-manager",
            Self::Scheduler => "kube-scheduler",
            Self::Kwok => "kwok",
        }
    }

    /// The Go package of its `main`.
    pub(super) const fn package(self) -> &'static str {
        match self {
            Self::Etcd => "go.etcd.io/etcd/server/v3",
            Self::ApiServer => "k8s.io/kubernetes/cmd/kube-apiserver",
            Self::Kubectl => "k8s.io/kubernetes/cmd/kubectl",
            Self::ControllerManager => "k8s.io/kubernetes/cmd/kube-controller-manager",
            Self::Scheduler => "k8s.io/kubernetes/cmd/kube-scheduler",
            Self::Kwok => "sigs.k8s.io/kwok/cmd/kwok",
        }
    }

    /// The arguments with which it prints its version.
    pub(super) const fn version_arguments(self) -> &'static [&'static str] {
        match self {
            Self::Kubectl => &["version", "--client"],
            _ => &["--version"],
        }
    }
}
