use std::fmt;

use clap::ValueEnum;
use serde::Serialize;

/// Who is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Subject {
    /// sigs.k8s.io/controller-runtime, in Go.
    ControllerRuntime,
    /// kube-runtime, in Rust.
    Kube,
    /// This project.
    Kubewright,
    /// This project, keeping seven fields of each object.
    KubewrightProjection,
}

impl Subject {
    /// All, the baseline first.
    pub(crate) const ALL: [Self; 4] = [
        Self::ControllerRuntime,
        Self::Kube,
        Self::Kubewright,
        Self::KubewrightProjection,
    ];

    const fn as_str(self) -> &'static str {
        match self {
            Self::ControllerRuntime => "controller-runtime",
            Self::Kube => "kube",
            Self::Kubewright => "kubewright",
            Self::KubewrightProjection => "kubewright-projection",
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
    fn a_subject_has_one_spelling_on_the_command_line_in_json_and_in_the_table() {
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
