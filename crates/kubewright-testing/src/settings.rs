use std::ffi::OsString;
use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::Error;

/// What the environment says about clusters for tests; read in one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// `KUBEWRIGHT_TEST_CLUSTER`: which cluster a test runs on that does not say so itself.
    pub cluster: Choice,
    /// `KUBEWRIGHT_REQUIRE=real`: a real cluster that cannot be had fails the test.
    pub require_real: bool,
    /// `KUBEWRIGHT_CACHE`, else `kubewright` in the platform's cache folder; empty where the
    /// environment names neither, which only matters to those who need it: see
    /// [`cache_folder`](Self::cache_folder).
    pub cache: PathBuf,
    /// `KUBEBUILDER_ASSETS`: a folder of ready control-plane programs.
    pub assets: Option<PathBuf>,
    /// The Go command that builds the control plane: `go`, as `PATH` finds it.
    pub go: PathBuf,
    /// `KUBEWRIGHT_PERMISSIONS`: a file to which each test adds what its operators were allowed,
    /// for `kubewright check --tests`.
    pub permissions: Option<PathBuf>,
    /// The kubeconfig of an existing cluster: the first of `KUBECONFIG`, else `~/.kube/config`.
    pub kubeconfig: Option<PathBuf>,
    /// `RUST_LOG`: what is shown of a failed test's log, such as `info,kubewright=debug`.
    pub log: Option<String>,
    /// `KUBEWRIGHT_TEST_TIMEOUT`: how long `eventually` waits, in seconds.
    pub timeout: Duration,
    /// `KUBEWRIGHT_TEST_OPERATOR=deployed`: whose operator tests on an existing cluster look at.
    pub operator: OperatorChoice,
    /// `KUBEWRIGHT_TEST_NODES=simulated`: whether tests may add nodes to an existing cluster.
    pub nodes: NodeChoice,
    /// `KUBEWRIGHT_TEST_WEBHOOK_HOST`: the name or address by which an existing cluster reaches
    /// this machine, to call the webhooks of operators under test. Without it loopback, where that
    /// is where the cluster is.
    pub webhook_host: Option<String>,
}

/// The operator that a test on an existing cluster runs against.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OperatorChoice {
    /// The one that the test makes, in its own process.
    #[default]
    Own,
    /// The one that a Deployment of its name runs in the cluster. What only an operator in the
    /// test's own process can be made to do skips a test: to fail, to crash, to be started anew.
    Deployed,
}

/// Where the nodes of an existing cluster come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum NodeChoice {
    /// They are those that it has; tests that want some of their own are skipped.
    #[default]
    Kept,
    /// They are only objects, as those of kwok: a test adds what it asks for and takes it away.
    Simulated,
}

/// The cluster a test runs on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// The one in this process, with virtual time.
    #[default]
    Embedded,
    /// etcd and kube-apiserver as processes.
    Real,
    /// The one that the current kubeconfig leads to; it is used with care and left as it was.
    Existing,
}

impl fmt::Display for Choice {
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
        let wrong = |variable: &'static str, value: String, known: &'static str| Error::Setting {
            variable,
            value,
            known,
        };
        let cluster = match text("KUBEWRIGHT_TEST_CLUSTER").as_deref() {
            None | Some("embedded") => Choice::Embedded,
            Some("real") => Choice::Real,
            Some("existing") => Choice::Existing,
            Some(other) => {
                let known = "embedded, real, existing";
                return Err(wrong("KUBEWRIGHT_TEST_CLUSTER", other.to_owned(), known));
            }
        };
        let require_real = match text("KUBEWRIGHT_REQUIRE").as_deref() {
            None => false,
            Some("real") => true,
            Some(other) => return Err(wrong("KUBEWRIGHT_REQUIRE", other.to_owned(), "real")),
        };
        let operator = match text("KUBEWRIGHT_TEST_OPERATOR").as_deref() {
            None | Some("own") => OperatorChoice::Own,
            Some("deployed") if cluster == Choice::Existing => OperatorChoice::Deployed,
            Some(other) => {
                let known = "own, and with KUBEWRIGHT_TEST_CLUSTER=existing deployed";
                return Err(wrong("KUBEWRIGHT_TEST_OPERATOR", other.to_owned(), known));
            }
        };
        let nodes = match text("KUBEWRIGHT_TEST_NODES").as_deref() {
            None | Some("kept") => NodeChoice::Kept,
            Some("simulated") if cluster == Choice::Existing => NodeChoice::Simulated,
            Some(other) => {
                let known = "kept, and with KUBEWRIGHT_TEST_CLUSTER=existing simulated";
                return Err(wrong("KUBEWRIGHT_TEST_NODES", other.to_owned(), known));
            }
        };
        let webhook_host = match text("KUBEWRIGHT_TEST_WEBHOOK_HOST") {
            Some(host) if cluster != Choice::Existing || !is_host(&host) => {
                let known = "with KUBEWRIGHT_TEST_CLUSTER=existing, a host name or an address, \
                             without a port";
                return Err(wrong("KUBEWRIGHT_TEST_WEBHOOK_HOST", host, known));
            }
            host => host,
        };
        let timeout = match text("KUBEWRIGHT_TEST_TIMEOUT") {
            None => EVENTUALLY_TIMEOUT,
            Some(value) => Duration::from_secs(
                value
                    .parse()
                    .map_err(|_| wrong("KUBEWRIGHT_TEST_TIMEOUT", value, "a number of seconds"))?,
            ),
        };
        let folder = |name: &str| variable(name).map(|value| absolute(PathBuf::from(value)));
        let cache = folder("KUBEWRIGHT_CACHE").or_else(|| platform_cache(variable));
        Ok(Self {
            cluster,
            require_real,
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

/// What an empty environment means, with the cache in the folder of the process.
impl Default for Settings {
    fn default() -> Self {
        Self {
            cluster: Choice::default(),
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

/// Whether it is what a URL could have there; IPv6 addresses come without brackets.
fn is_host(text: &str) -> bool {
    let is_name = text
        .chars()
        .all(|one| one.is_ascii_alphanumeric() || "-.".contains(one));
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
    let named = variable("KUBECONFIG");
    let named = named.and_then(|paths| std::env::split_paths(&paths).next());
    let home = || variable("HOME").map(|home| PathBuf::from(home).join(".kube/config"));
    named.or_else(home).map(absolute)
}

/// Programs that use the folder are started in folders of their own.
fn absolute(folder: PathBuf) -> PathBuf {
    // It fails only where the present folder is gone, and then nothing relative can be found.
    std::path::absolute(&folder).unwrap_or(folder)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Choice, NodeChoice, OperatorChoice, Settings};
    use crate::Error;

    fn read(variables: &[(&str, &str)]) -> Result<Settings, Error> {
        Settings::read(&|name| {
            let found = variables.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| value.into())
        })
    }

    #[test]
    fn an_empty_environment_means_the_embedded_cluster_and_the_platforms_cache() {
        let settings = read(&[("HOME", "/home/jane")]).unwrap();
        assert_eq!(settings.cluster, Choice::Embedded);
        assert!(!settings.require_real);
        assert!(settings.cache.starts_with("/home/jane"));
        assert!(settings.cache.ends_with("kubewright"));
    }

    #[test]
    fn the_cache_folder_of_ours_wins_over_the_platforms() {
        let settings = read(&[("HOME", "/h"), ("KUBEWRIGHT_CACHE", "/c")]).unwrap();
        assert_eq!(settings.cache, Path::new("/c"));
    }

    #[test]
    fn relative_folders_are_those_of_this_process() {
        let here = std::env::current_dir().unwrap();
        let settings = read(&[("KUBEWRIGHT_CACHE", "c"), ("KUBEBUILDER_ASSETS", "a/b")]).unwrap();
        assert_eq!(settings.cache, here.join("c"));
        assert_eq!(settings.assets, Some(here.join("a/b")));
    }

    #[test]
    fn no_home_is_an_error_only_to_those_who_need_the_cache() {
        let settings = read(&[]).unwrap();
        assert_eq!(settings.cluster, Choice::Embedded);
        let error = settings.cache_folder().unwrap_err().to_string();
        assert!(
            error.contains("neither KUBEWRIGHT_CACHE nor HOME is set"),
            "{error}"
        );
    }

    #[test]
    fn an_existing_cluster_may_run_the_operator_and_take_nodes() {
        let plain = read(&[("HOME", "/h")]).unwrap();
        assert_eq!(
            (plain.operator, plain.nodes),
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
        // Elsewhere nobody would look at them, and the tests would say something else.
        for &(variable, value) in &variables[1..] {
            let error = read(&[(variable, value)]).unwrap_err().to_string();
            assert!(error.contains(variable), "{error}");
        }
    }

    #[test]
    fn an_existing_cluster_is_told_how_it_reaches_this_machine() {
        let host = |cluster: &'static str, host: &'static str| {
            let settings = read(&[
                ("KUBEWRIGHT_TEST_CLUSTER", cluster),
                ("KUBEWRIGHT_TEST_WEBHOOK_HOST", host),
            ]);
            settings.map(|settings| settings.webhook_host)
        };
        for known in ["192.168.1.7", "fd00::7", "host.docker.internal"] {
            assert_eq!(host("existing", known).unwrap().as_deref(), Some(known));
        }
        for wrong in ["https://host", "host:443", "[fd00::7]"] {
            let error = host("existing", wrong).unwrap_err().to_string();
            assert!(error.contains("without a port"), "{error}");
        }
        assert!(host("real", "192.168.1.7").is_err(), "nobody would look");
    }

    #[test]
    fn an_unknown_cluster_is_refused_with_the_known_ones() {
        let error = read(&[("HOME", "/h"), ("KUBEWRIGHT_TEST_CLUSTER", "kind")]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "read KUBEWRIGHT_TEST_CLUSTER=\"kind\": not a known value; use one of: embedded, real, existing"
        );
    }

    #[test]
    fn timeout_is_a_number_of_seconds() {
        let settings = read(&[("KUBEWRIGHT_TEST_TIMEOUT", "5")]).unwrap();
        assert_eq!(settings.timeout.as_secs(), 5);
        let error = read(&[("KUBEWRIGHT_TEST_TIMEOUT", "long")]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "read KUBEWRIGHT_TEST_TIMEOUT=\"long\": not a known value; use one of: a number of seconds"
        );
    }
}
