use std::borrow::Cow;
use std::fmt::{self, Write as _};

use ring::digest::{SHA256, digest};

use super::pinned::pin;
use super::program::Program;
use crate::{Error, Settings};

/// A Kubernetes version that can be built, with all that is pinned for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Release {
    pub(super) version: Cow<'static, str>,
    pub(super) etcd: Cow<'static, str>,
    pub(super) kwok: Cow<'static, str>,
    /// When the module was published, as the Go module index states it: a build of ours has no
    /// date of its own, so that the same sources give the same bytes.
    pub(super) published: Cow<'static, str>,
    pub(super) controlplane: Module,
    pub(super) kwok_module: Module,
}

/// A Go module of ours that only names what is to be built.
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
    /// The Kubernetes that this release of Kubewright is measured against.
    pub fn current() -> &'static Self {
        &CURRENT
    }

    /// The release of that version, such as `1.34.2`, with or without a leading `v`.
    ///
    /// What is pinned for another than [`current`](Self::current) follows from Kubernetes' own
    /// `go.mod`, which Go fetches once; it is kept in the cache folder.
    ///
    /// # Cancel safety
    ///
    /// When dropped, the running Go command is stopped, and the next call begins anew.
    pub async fn find(version: &str, settings: &Settings) -> Result<Self, Error> {
        let wanted = version.strip_prefix('v').unwrap_or(version);
        if wanted == CURRENT.version {
            return Ok(CURRENT.clone());
        }
        let numbers: Vec<_> = wanted.split('.').collect();
        let is_number = |text: &&str| text.parse::<u32>().is_ok();
        match numbers.as_slice() {
            ["1", rest @ ..] if rest.len() == 2 && rest.iter().all(is_number) => {
                pin(wanted, settings).await
            }
            _ => Err(Error::UnknownVersion {
                version: version.to_owned(),
            }),
        }
    }

    /// The version without a leading `v`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// What the programs report as their commit: the first 40 hexadecimal digits of the SHA-256
    /// of the line in `go.sum` that pins the Kubernetes module.
    ///
    /// A module carries no commit; this one names exactly the sources that were built.
    pub fn commit(&self) -> String {
        let start = format!("k8s.io/kubernetes v{} h1:", self.version);
        let line = self
            .controlplane
            .go_sum
            .lines()
            .find(|line| line.starts_with(&start))
            .unwrap_or_default();
        hexadecimal(&line_digest(line)).chars().take(40).collect()
    }

    pub(super) fn module(&self, program: Program) -> &Module {
        match program {
            Program::Kwok => &self.kwok_module,
            _ => &self.controlplane,
        }
    }

    /// What the linker writes into the programs.
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
        // The second package feeds the User-Agent.
        for package in [
            "k8s.io/component-base/version",
            "k8s.io/client-go/pkg/version",
        ] {
            for (name, value) in &stamps {
                write!(flags, " -X {package}.{name}={value}").unwrap_or_default();
            }
        }
        flags
    }

    /// What a program's answer about its version contains.
    pub(super) fn version_answer(&self, program: Program) -> String {
        match program {
            Program::Etcd => format!("etcd Version: {}", self.etcd),
            Program::Kwok => format!("kwok version v{}", self.kwok),
            Program::Kubectl => format!("Client Version: v{}", self.version),
            Program::ApiServer | Program::ControllerManager | Program::Scheduler => {
                format!("Kubernetes v{}", self.version)
            }
        }
    }

    /// A digest of all that decides what the program's bytes are, so that a change of ours
    /// builds it anew.
    pub(super) fn inputs(&self, program: Program) -> String {
        let module = self.module(program);
        let flags = self.linker_flags(program);
        let text = [&*module.go_mod, &*module.go_sum, program.package(), &flags].join("\n");
        hexadecimal(&line_digest(&text))
    }
}

fn line_digest(text: &str) -> Vec<u8> {
    digest(&SHA256, text.as_bytes()).as_ref().to_vec()
}

/// Bytes as lowercase hexadecimal digits.
pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::Release;
    use crate::Settings;
    use crate::control_plane::Program;

    #[tokio::test]
    async fn a_version_that_is_none_is_refused_with_what_one_looks_like() {
        let settings = Settings::default();
        for version in ["1.34", "latest", "1.34.x", "2.0.0", "1.34.2.1"] {
            let error = Release::find(version, &settings).await.unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("find a control plane of version {version:?}: write it as 1.34.2")
            );
        }
        let found = Release::find("v1.36.3", &settings).await.unwrap();
        assert_eq!(found, *Release::current());
    }

    #[test]
    fn the_commit_follows_from_the_modules_checksum() {
        // printf '%s' "$(grep 'k8s.io/kubernetes v1.36.3 h1:' go.sum)" | sha256sum | head -c 40
        assert_eq!(
            Release::current().commit(),
            "c57f17ba3f9158750dbe39ff7809d44a64039713"
        );
    }

    #[test]
    fn kubernetes_programs_are_stamped_in_both_packages_and_others_not() {
        let release = Release::current();
        let flags = release.linker_flags(Program::Kubectl);
        assert!(flags.contains(" -X k8s.io/component-base/version.gitVersion=v1.36.3"));
        assert!(flags.contains(" -X k8s.io/client-go/pkg/version.gitMinor=36"));
        assert_eq!(release.linker_flags(Program::Etcd), "-s -w");
    }
}
