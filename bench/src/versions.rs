//! The versions of the programs that are measured.

use std::fmt;
use std::path::Path;

use kube::Client;
use tokio::process::Command;

use crate::error::Error;

const KUBE_LOCK: &str = include_str!("../subjects/cache-kube/Cargo.lock");
const GO_MOD: &str = include_str!("../go/cache-controller-runtime/go.mod");

/// The versions of the measured programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Versions {
    kubernetes: String,
    go: String,
    rust: String,
}

impl Versions {
    /// Reads the versions of the server and of the compilers.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future has no effect.
    pub(crate) async fn read(client: &Client, go: &Path) -> Result<Self, Error> {
        let server = client
            .apiserver_version()
            .await
            .map_err(|error| Error::ServerVersion(Box::new(error)))?;
        Ok(Self {
            kubernetes: server.git_version,
            go: first_line(go, &["env", "GOVERSION"]).await,
            rust: first_line(Path::new("rustc"), &["--version"]).await,
        })
    }
}

impl fmt::Display for Versions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Kubernetes {}, controller-runtime {} ({}), kube {}, kubewright {} ({})",
            self.kubernetes,
            required(GO_MOD, "sigs.k8s.io/controller-runtime").unwrap_or("unknown"),
            self.go,
            locked(KUBE_LOCK, "kube").unwrap_or("unknown"),
            env!("CARGO_PKG_VERSION"),
            self.rust,
        )
    }
}

/// Returns the first line of the output of a program. A missing program is not an error, because no
/// subject was built with it.
async fn first_line(program: &Path, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().await;
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let line = text
        .ok()
        .and_then(|text| Some(text.lines().next()?.to_owned()));
    line.unwrap_or_else(|| format!("no {}", program.display()))
}

/// Returns the version of a package in a Cargo.lock.
fn locked<'a>(lock: &'a str, package: &str) -> Option<&'a str> {
    let name = format!("name = \"{package}\"");
    let mut lines = lock.lines().skip_while(|line| *line != name).skip(1);
    lines
        .next()?
        .strip_prefix("version = \"")?
        .strip_suffix('"')
}

/// Returns the version of a module in a go.mod.
fn required<'a>(go_mod: &'a str, module: &str) -> Option<&'a str> {
    go_mod.lines().find_map(|line| {
        let mut words = line.split_whitespace().filter(|word| *word != "require");
        words.next().filter(|name| *name == module)?;
        words.next()
    })
}

#[cfg(test)]
mod tests {
    use super::{GO_MOD, KUBE_LOCK, locked, required};

    #[test]
    fn versions_are_read_from_the_committed_lock_files() {
        assert_eq!(
            required(GO_MOD, "sigs.k8s.io/controller-runtime"),
            Some("v0.25.2")
        );
        assert_eq!(required("require a/b v1.0.0", "a/b"), Some("v1.0.0"));
        assert_eq!(required(GO_MOD, "example.com/absent"), None);
        assert_eq!(locked(KUBE_LOCK, "absent"), None);
    }

    #[test]
    fn subject_of_kube_has_the_versions_of_the_workspace() {
        let workspace_lock = include_str!("../../Cargo.lock");
        for package in [
            "kube",
            "k8s-openapi",
            "serde_json",
            "rustls",
            "hyper",
            "tokio",
        ] {
            let version = locked(KUBE_LOCK, package);
            assert!(version.is_some(), "{package} is not locked");
            assert_eq!(version, locked(workspace_lock, package), "{package}");
        }
    }
}
