//! A Kubernetes version with everything that is pinned for it.

use std::borrow::Cow;
use std::fmt::{self, Write as _};

use ring::digest::{SHA256, digest};

use super::program::Program;

/// A Kubernetes version that can be built, with the pinned versions of its programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Release {
    pub(super) version: Cow<'static, str>,
    pub(super) etcd: Cow<'static, str>,
    pub(super) kwok: Cow<'static, str>,
    /// When the module was published by the Go module index. It is used as the build date, so that
    /// builds are reproducible.
    pub(super) published: Cow<'static, str>,
    pub(super) controlplane: Module,
    pub(super) kwok_module: Module,
}

/// A Go module that only pins the programs to build.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Module {
    pub(super) name: &'static str,
    pub(super) go_mod: Cow<'static, str>,
    pub(super) go_sum: Cow<'static, str>,
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

static CURRENT: Release = Release {
    version: Cow::Borrowed("1.36.3"),
    etcd: Cow::Borrowed("3.6.8"),
    kwok: Cow::Borrowed("0.8.0"),
    published: Cow::Borrowed("2026-07-22T18:07:38Z"),
    controlplane: Module {
        name: "controlplane",
        go_mod: Cow::Borrowed(include_str!("../../go/controlplane/go.mod")),
        go_sum: Cow::Borrowed(include_str!("../../go/controlplane/go.sum")),
    },
    kwok_module: Module {
        name: "kwok",
        go_mod: Cow::Borrowed(include_str!("../../go/kwok/go.mod")),
        go_sum: Cow::Borrowed(include_str!("../../go/kwok/go.sum")),
    },
};

impl Release {
    /// The Kubernetes version that this version of Kubewright is compared with.
    pub fn current() -> &'static Self {
        &CURRENT
    }

    /// The version without a leading `v`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The commit that the programs report: the first 40 hexadecimal digits of the SHA-256 of the
    /// line in `go.sum` that pins the Kubernetes module.
    ///
    /// A module has no commit; this digest identifies the sources of the build.
    pub fn commit(&self) -> String {
        let start = format!("k8s.io/kubernetes v{} h1:", self.version);
        let line = self
            .controlplane
            .go_sum
            .lines()
            .find(|line| line.starts_with(&start))
            .unwrap_or_default();
        hexadecimal(&sha256(line)).chars().take(40).collect()
    }

    pub(super) fn module(&self, program: Program) -> &Module {
        match program {
            Program::Kwok => &self.kwok_module,
            _ => &self.controlplane,
        }
    }

    /// The linker flags that stamp the version into a program.
    pub(super) fn linker_flags(&self, program: Program) -> String {
        let mut flags = "-s -w".to_owned();
        if matches!(program, Program::Etcd | Program::Kwok) {
            return flags;
        }
        let mut numbers = self.version.split('.');
        let stamps = [
            ("gitVersion", format!("v{}", self.version)),
            ("gitMajor", numbers.next().unwrap_or_default().to_owned()),
            ("gitMinor", numbers.next().unwrap_or_default().to_owned()),
            ("gitCommit", self.commit()),
            ("gitTreeState", "clean".to_owned()),
            ("buildDate", self.published.to_string()),
        ];
        // The User-Agent contains the version of the second package.
        for package in [
            "k8s.io/component-base/version",
            "k8s.io/client-go/pkg/version",
        ] {
            for (name, value) in &stamps {
                // Writing to a string does not fail.
                write!(flags, " -X {package}.{name}={value}").ok();
            }
        }
        flags
    }

    /// A part of the output with which a program prints its version.
    pub(super) fn expected_version_output(&self, program: Program) -> String {
        match program {
            Program::Etcd => format!("etcd Version: {}", self.etcd),
            Program::Kwok => format!("kwok version v{}", self.kwok),
            Program::Kubectl => format!("Client Version: v{}", self.version),
            Program::ApiServer | Program::ControllerManager | Program::Scheduler => {
                format!("Kubernetes v{}", self.version)
            }
        }
    }

    /// A digest of the inputs of the build, so that a program is built again when they change.
    pub(super) fn inputs(&self, program: Program) -> String {
        let module = self.module(program);
        let flags = self.linker_flags(program);
        let text = [&*module.go_mod, &*module.go_sum, program.package(), &flags].join("\n");
        hexadecimal(&sha256(&text))
    }
}

fn sha256(text: &str) -> Vec<u8> {
    digest(&SHA256, text.as_bytes()).as_ref().to_vec()
}

/// Bytes as lowercase hexadecimal digits.
pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::Release;
    use crate::control_plane::Program;

    #[test]
    fn commit_is_derived_from_the_checksum_of_the_module() {
        // printf '%s' "$(grep 'k8s.io/kubernetes v1.36.3 h1:' go.sum)" | sha256sum | head -c 40
        assert_eq!(
            Release::current().commit(),
            "c57f17ba3f9158750dbe39ff7809d44a64039713"
        );
    }

    #[test]
    fn only_kubernetes_programs_are_stamped_with_a_version() {
        let release = Release::current();
        let flags = release.linker_flags(Program::Kubectl);
        assert!(flags.contains(" -X k8s.io/component-base/version.gitVersion=v1.36.3"));
        assert!(flags.contains(" -X k8s.io/client-go/pkg/version.gitMinor=36"));
        assert_eq!(release.linker_flags(Program::Etcd), "-s -w");
    }
}
