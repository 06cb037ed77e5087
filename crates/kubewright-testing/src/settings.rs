use std::ffi::OsString;
use std::fmt;
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
    /// `KUBEWRIGHT_TEST_TIMEOUT`: how long `eventually` waits, in seconds.
    pub patience: Duration,
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

const PATIENCE: Duration = Duration::from_secs(30);

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
        let patience = match text("KUBEWRIGHT_TEST_TIMEOUT") {
            None => PATIENCE,
            Some(value) => match value.parse() {
                Ok(seconds) => Duration::from_secs(seconds),
                Err(_) => {
                    return Err(wrong(
                        "KUBEWRIGHT_TEST_TIMEOUT",
                        value,
                        "a number of seconds",
                    ));
                }
            },
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
            patience,
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
            patience: PATIENCE,
        }
    }
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

    use super::{Choice, Settings};
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
    fn an_unknown_cluster_is_refused_with_the_known_ones() {
        let error = read(&[("HOME", "/h"), ("KUBEWRIGHT_TEST_CLUSTER", "kind")]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "read KUBEWRIGHT_TEST_CLUSTER=\"kind\": not a known value; use one of: embedded, real, existing"
        );
    }
}
