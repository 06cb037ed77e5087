//! The subjects of the benchmarks.

use std::fmt;

use clap::ValueEnum;
use serde::Serialize;

/// The library that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Subject {
    /// sigs.k8s.io/controller-runtime, in Go.
    ControllerRuntime,
    /// kube-runtime, in Rust.
    Kube,
    /// This project.
    Kubewright,
    /// This project, with a cache of seven fields of each object.
    KubewrightProjection,
    /// kubebuilder, in Go. Its figures are constants; it is not run.
    #[value(skip)]
    Kubebuilder,
}

impl Subject {
    /// All subjects that are run, the baseline first.
    pub(crate) const ALL: [Self; 4] = [
        Self::ControllerRuntime,
        Self::Kube,
        Self::Kubewright,
        Self::KubewrightProjection,
    ];

    /// Whether ratios are relative to this subject.
    pub(crate) const fn is_baseline(self) -> bool {
        matches!(self, Self::ControllerRuntime | Self::Kubebuilder)
    }

    const fn as_str(self) -> &'static str {
        match self {
            Self::ControllerRuntime => "controller-runtime",
            Self::Kube => "kube",
            Self::Kubewright => "kubewright",
            Self::KubewrightProjection => "kubewright-projection",
            Self::Kubebuilder => "kubebuilder",
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum as _;

    use super::Subject;

    #[test]
    fn subject_has_the_same_name_on_the_command_line_in_json_and_in_the_table() {
        for subject in Subject::ALL {
            let typed = subject.to_possible_value().unwrap();
            assert_eq!(typed.get_name(), subject.to_string());
            assert_eq!(
                serde_json::to_string(&subject).unwrap(),
                format!("\"{subject}\"")
            );
        }
    }
}
