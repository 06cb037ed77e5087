//! The settings of test clusters from the environment.

use std::ffi::OsString;
use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::Error;

/// The settings of test clusters from the environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// `KUBEWRIGHT_TEST_CLUSTER`: the cluster of tests that do not set it themselves.
    pub cluster: ClusterChoice,
    /// `KUBEWRIGHT_REQUIRE=real`: tests fail, instead of being skipped, without a real cluster.
    pub require_real: bool,
    /// `KUBEWRIGHT_CACHE`, else `kubewright` in the platform's cache folder. Empty if the
    /// environment has neither, which is an error only when the folder is used: see
    /// [`cache_folder`](Self::cache_folder).
    pub cache: PathBuf,
    /// `KUBEBUILDER_ASSETS`: a folder of prebuilt control-plane programs.
    pub assets: Option<PathBuf>,
    /// The Go command that builds the control plane: `go` in `PATH`.
    pub go: PathBuf,
    /// `KUBEWRIGHT_PERMISSIONS`: a file to which each test appends the permissions that its
    /// operators used, for `kubewright check --tests`.
    pub permissions: Option<PathBuf>,
    /// The kubeconfig of an existing cluster: the first of `KUBECONFIG`, else `~/.kube/config`.
    pub kubeconfig: Option<PathBuf>,
    /// `RUST_LOG`: the filter for the log of a failed test, such as `info,kubewright=debug`.
    pub log: Option<String>,
    /// `KUBEWRIGHT_TEST_TIMEOUT`: the timeout of `eventually` in seconds.
    pub timeout: Duration,
    /// `KUBEWRIGHT_TEST_OPERATOR=deployed`: the operator of tests on an existing cluster.
    pub operator: OperatorChoice,
    /// `KUBEWRIGHT_TEST_NODES=simulated`: whether tests may add nodes to an existing cluster.
    pub nodes: NodeChoice,
    /// `KUBEWRIGHT_TEST_WEBHOOK_HOST`: the name or address by which an existing cluster reaches
    /// this machine, to call the webhooks of operators under test. The default is loopback, if the
    /// cluster is on loopback.
    pub webhook_host: Option<String>,
}

/// The operator that a test on an existing cluster tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OperatorChoice {
    /// The operator that the test runs in its own process.
    #[default]
    Own,
    /// The operator that the Deployment with its name runs in the cluster. A test is skipped when
    /// it needs an operator in its own process, as for faults, crashes and restarts.
    Deployed,
}

/// The nodes of tests on an existing cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum NodeChoice {
    /// The nodes of the cluster; tests that need nodes of their own are skipped.
    #[default]
    Kept,
    /// Simulated nodes, as those of kwok: a test adds the nodes that it needs, and deletes them.
    Simulated,
}

/// The cluster a test runs on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClusterChoice {
    /// A cluster in this process, with virtual time.
    #[default]
    Embedded,
    /// etcd and kube-apiserver as processes.
    Real,
    /// The cluster of the current kubeconfig, which a test leaves as it was.
    Existing,
}

impl fmt::Display for ClusterChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Embedded => "embedded",
            Self::Real => "real",
            Self::Existing => "existing",
        })
    }
}

const EVENTUALLY_TIMEOUT: Duration = Duration::from_secs(30);

impl Settings {
    /// Reads the environment.
    pub fn from_environment() -> Result<Self, Error> {
        Self::read(&|name| std::env::var_os(name).filter(|value| !value.is_empty()))
    }

    /// The cache folder.
    pub fn cache_folder(&self) -> Result<&Path, Error> {
        if self.cache.as_os_str().is_empty() {
            return Err(Error::NoCacheFolder);
        }
        Ok(&self.cache)
    }

    fn read(variable: &dyn Fn(&str) -> Option<OsString>) -> Result<Self, Error> {
        let text = |name: &'static str| variable(name).map(|value| value.display().to_string());
        let invalid = |variable: &'static str, value: String, known: &'static str| Error::Setting {
            variable,
            value,
            known,
        };
        let cluster = match text("KUBEWRIGHT_TEST_CLUSTER").as_deref() {
            None | Some("embedded") => ClusterChoice::Embedded,
            Some("real") => ClusterChoice::Real,
            Some("existing") => ClusterChoice::Existing,
            Some(other) => {
                let known = "embedded, real, existing";
                return Err(invalid("KUBEWRIGHT_TEST_CLUSTER", other.to_owned(), known));
            }
        };
        let require_real = match text("KUBEWRIGHT_REQUIRE").as_deref() {
            None => false,
            Some("real") => true,
            Some(other) => return Err(invalid("KUBEWRIGHT_REQUIRE", other.to_owned(), "real")),
        };
        let operator = match text("KUBEWRIGHT_TEST_OPERATOR").as_deref() {
            None | Some("own") => OperatorChoice::Own,
            Some("deployed") if cluster == ClusterChoice::Existing => OperatorChoice::Deployed,
            Some(other) => {
                let known = "own, and with KUBEWRIGHT_TEST_CLUSTER=existing deployed";
                return Err(invalid("KUBEWRIGHT_TEST_OPERATOR", other.to_owned(), known));
            }
        };
        let nodes = match text("KUBEWRIGHT_TEST_NODES").as_deref() {
            None | Some("kept") => NodeChoice::Kept,
            Some("simulated") if cluster == ClusterChoice::Existing => NodeChoice::Simulated,
            Some(other) => {
                let known = "kept, and with KUBEWRIGHT_TEST_CLUSTER=existing simulated";
                return Err(invalid("KUBEWRIGHT_TEST_NODES", other.to_owned(), known));
            }
        };
        let webhook_host = match text("KUBEWRIGHT_TEST_WEBHOOK_HOST") {
            Some(host) if cluster != ClusterChoice::Existing || !is_host(&host) => {
                let known = "with KUBEWRIGHT_TEST_CLUSTER=existing, a host name or an address, \
                             without a port";
                return Err(invalid("KUBEWRIGHT_TEST_WEBHOOK_HOST", host, known));
            }
            host => host,
        };
        let timeout =
            match text("KUBEWRIGHT_TEST_TIMEOUT") {
                None => EVENTUALLY_TIMEOUT,
                Some(value) => Duration::from_secs(value.parse().map_err(|_| {
                    invalid("KUBEWRIGHT_TEST_TIMEOUT", value, "a number of seconds")
                })?),
            };
        let folder = |name: &str| variable(name).map(|value| absolute(PathBuf::from(value)));
        let cache = folder("KUBEWRIGHT_CACHE").or_else(|| platform_cache(variable));
        Ok(Self {
            cluster,
            require_real,
            // `cache_folder` returns the error.
            cache: cache.unwrap_or_default(),
            assets: folder("KUBEBUILDER_ASSETS"),
            go: PathBuf::from("go"),
            permissions: folder("KUBEWRIGHT_PERMISSIONS"),
            kubeconfig: kubeconfig(variable),
            log: text("RUST_LOG"),
            timeout,
            operator,
            nodes,
            webhook_host,
        })
    }
}

/// The settings of an empty environment, with the cache in the working directory.
impl Default for Settings {
    fn default() -> Self {
        Self {
            cluster: ClusterChoice::default(),
            require_real: false,
            cache: PathBuf::from("kubewright-cache"),
            assets: None,
            go: PathBuf::from("go"),
            permissions: None,
            kubeconfig: None,
            log: None,
            timeout: EVENTUALLY_TIMEOUT,
            operator: OperatorChoice::default(),
            nodes: NodeChoice::default(),
            webhook_host: None,
        }
    }
}

/// Whether a text is a host name or an address; IPv6 addresses have no brackets.
fn is_host(text: &str) -> bool {
    let is_name = text
        .chars()
        .all(|letter| letter.is_ascii_alphanumeric() || "-.".contains(letter));
    is_name || text.parse::<IpAddr>().is_ok()
}

fn platform_cache(variable: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let home = || variable("HOME").map(PathBuf::from);
    let base = if cfg!(target_os = "macos") {
        home()?.join("Library/Caches")
    } else {
        match variable("XDG_CACHE_HOME") {
            Some(folder) => PathBuf::from(folder),
            None => home()?.join(".cache"),
        }
    };
    Some(absolute(base.join("kubewright")))
}

fn kubeconfig(variable: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let configured = variable("KUBECONFIG").and_then(|paths| std::env::split_paths(&paths).next());
    let home = || variable("HOME").map(|home| PathBuf::from(home).join(".kube/config"));
    configured.or_else(home).map(absolute)
}

/// Makes a path absolute, because programs with other working directories use it.
fn absolute(folder: PathBuf) -> PathBuf {
    // Fails only without a working directory, where no relative path is valid.
    std::path::absolute(&folder).unwrap_or(folder)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{ClusterChoice, NodeChoice, OperatorChoice, Settings};
    use crate::Error;

    fn read(variables: &[(&str, &str)]) -> Result<Settings, Error> {
        Settings::read(&|name| {
            let found = variables.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| value.into())
        })
    }

    #[test]
    fn default_is_the_embedded_cluster_and_the_cache_of_the_platform() {
        let settings = read(&[("HOME", "/home/jane")]).unwrap();
        assert_eq!(settings.cluster, ClusterChoice::Embedded);
        assert!(!settings.require_real);
        assert!(settings.cache.starts_with("/home/jane"));
        assert!(settings.cache.ends_with("kubewright"));
    }

    #[test]
    fn cache_variable_has_precedence_over_the_cache_of_the_platform() {
        let settings = read(&[("HOME", "/h"), ("KUBEWRIGHT_CACHE", "/c")]).unwrap();
        assert_eq!(settings.cache, Path::new("/c"));
    }

    #[test]
    fn relative_folders_are_resolved_in_the_working_directory() {
        let here = std::env::current_dir().unwrap();
        let settings = read(&[("KUBEWRIGHT_CACHE", "c"), ("KUBEBUILDER_ASSETS", "a/b")]).unwrap();
        assert_eq!(settings.cache, here.join("c"));
        assert_eq!(settings.assets, Some(here.join("a/b")));
    }

    #[test]
    fn missing_home_is_an_error_only_when_the_cache_is_used() {
        let settings = read(&[]).unwrap();
        assert_eq!(settings.cluster, ClusterChoice::Embedded);
        let error = settings.cache_folder().unwrap_err().to_string();
        assert!(
            error.contains("neither KUBEWRIGHT_CACHE nor HOME is set"),
            "{error}"
        );
    }

    #[test]
    fn existing_cluster_can_run_the_operator_and_get_nodes() {
        let default = read(&[("HOME", "/h")]).unwrap();
        assert_eq!(
            (default.operator, default.nodes),
            (OperatorChoice::Own, NodeChoice::Kept)
        );
        let variables = [
            ("KUBEWRIGHT_TEST_CLUSTER", "existing"),
            ("KUBEWRIGHT_TEST_OPERATOR", "deployed"),
            ("KUBEWRIGHT_TEST_NODES", "simulated"),
        ];
        let settings = read(&variables).unwrap();
        assert_eq!(
            (settings.operator, settings.nodes),
            (OperatorChoice::Deployed, NodeChoice::Simulated)
        );
        // On other clusters these settings would have no effect.
        for &(variable, value) in &variables[1..] {
            let error = read(&[(variable, value)]).unwrap_err().to_string();
            assert!(error.contains(variable), "{error}");
        }
    }

    #[test]
    fn webhook_host_is_valid_only_for_an_existing_cluster() {
        let host = |cluster: &'static str, host: &'static str| {
            let settings = read(&[
                ("KUBEWRIGHT_TEST_CLUSTER", cluster),
                ("KUBEWRIGHT_TEST_WEBHOOK_HOST", host),
            ]);
            settings.map(|settings| settings.webhook_host)
        };
        for valid in ["192.168.1.7", "fd00::7", "host.docker.internal"] {
            assert_eq!(host("existing", valid).unwrap().as_deref(), Some(valid));
        }
        for invalid in ["https://host", "host:443", "[fd00::7]"] {
            let error = host("existing", invalid).unwrap_err().to_string();
            assert!(error.contains("without a port"), "{error}");
        }
        assert!(host("real", "192.168.1.7").is_err(), "no effect");
    }

    #[test]
    fn error_for_an_unknown_cluster_contains_the_known_ones() {
        let error = read(&[("HOME", "/h"), ("KUBEWRIGHT_TEST_CLUSTER", "kind")]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "read KUBEWRIGHT_TEST_CLUSTER=\"kind\": invalid value; use one of: embedded, real, existing"
        );
    }

    #[test]
    fn timeout_is_a_number_of_seconds() {
        let settings = read(&[("KUBEWRIGHT_TEST_TIMEOUT", "5")]).unwrap();
        assert_eq!(settings.timeout.as_secs(), 5);
        let error = read(&[("KUBEWRIGHT_TEST_TIMEOUT", "long")]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "read KUBEWRIGHT_TEST_TIMEOUT=\"long\": invalid value; use one of: a number of seconds"
        );
    }
}
