//! Locates the programs of a control plane, and builds the missing ones.

use std::fs;
use std::path::{Path, PathBuf};

use super::build::Build;
use super::go::Go;
use super::lock::Lock;
use super::platform::programs_folder;
use super::program::Program;
use super::record::Record;
use super::release::Release;
use crate::progress::report;
use crate::{Error, Settings};

/// A folder with the programs of a real control plane.
///
/// ```no_run
/// # async fn example() -> Result<(), kubewright_testing::Error> {
/// use kubewright_testing::Settings;
/// use kubewright_testing::control_plane::{ControlPlane, Program, Release};
///
/// let settings = Settings::from_environment()?;
/// let control_plane = ControlPlane::locate(Release::current(), &settings).await?;
/// println!("{}", control_plane.program(Program::Kubectl)?.display());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlPlane {
    folder: PathBuf,
    release: Release,
}

impl ControlPlane {
    /// Locates the programs, and builds those that are missing or damaged.
    ///
    /// A folder given by `KUBEBUILDER_ASSETS` is used without checks. Otherwise one process builds
    /// while others wait; if it is stopped, the programs built so far are kept.
    ///
    /// # Cancel safety
    ///
    /// When dropped, the running compiler is stopped; the programs built so far are kept.
    pub async fn locate(release: &Release, settings: &Settings) -> Result<Self, Error> {
        if let Some(folder) = &settings.assets {
            let found = Self {
                folder: folder.clone(),
                release: release.clone(),
            };
            found.program(Program::Etcd)?;
            found.program(Program::ApiServer)?;
            return Ok(found);
        }
        let folder = programs_folder(release.version(), settings)?;
        let record = Record::load(&folder);
        let mut programs = Program::ALL.iter();
        if !programs.all(|program| record.is_current(&folder, release, *program)) {
            build_missing(release, &folder, settings).await?;
        }
        let release = release.clone();
        Ok(Self { folder, release })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The Kubernetes version of the programs, unless `KUBEBUILDER_ASSETS` has other ones.
    pub fn release(&self) -> &Release {
        &self.release
    }

    /// The path of one program.
    pub fn program(&self, program: Program) -> Result<PathBuf, Error> {
        let path = self.folder.join(program.name());
        if path.is_file() {
            return Ok(path);
        }
        Err(Error::AssetMissing {
            program: program.name(),
            folder: self.folder.clone(),
        })
    }
}

/// Builds the programs that are missing or damaged.
async fn build_missing(release: &Release, folder: &Path, settings: &Settings) -> Result<(), Error> {
    let not_writable = |source| Error::CacheNotWritable {
        folder: folder.to_owned(),
        source,
    };
    let build = Build {
        release,
        folder,
        go: Go {
            program: &settings.go,
            cache: &settings.cache,
        },
    };
    let lock = match fs::create_dir_all(folder).map_err(not_writable) {
        Ok(()) => Lock::acquire(folder).await,
        Err(error) => Err(error),
    };
    let _lock = match lock {
        Ok(lock) => lock,
        // If Go is missing, that is the more useful error.
        Err(error) => return build.go.check().await.and(Err(error)),
    };
    build.remove_leftovers()?;
    let mut record = Record::load(folder);
    let mut builds = 0;
    for (position, program) in Program::ALL.into_iter().enumerate() {
        if !record.verify(folder, release, program) {
            if builds == 0 {
                build.go.check().await?;
            }
            builds += 1;
            report(format_args!(
                "building {} for Kubernetes {} ({} of {}); the first build takes minutes",
                program.name(),
                release.version(),
                position + 1,
                Program::ALL.len()
            ));
            build.build(program).await?;
            record.add(folder, release, program).map_err(not_writable)?;
        }
        record.save(folder).map_err(not_writable)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use tempfile::TempDir;

    use super::ControlPlane;
    use crate::control_plane::platform::platform;
    use crate::control_plane::{Program, Release};
    use crate::{Error, Settings};

    const GO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/go");

    struct Sandbox {
        folder: TempDir,
        settings: Settings,
    }

    impl Sandbox {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            fs::create_dir_all(folder.path().join("go")).unwrap();
            let settings = Settings {
                cache: folder.path().to_owned(),
                go: PathBuf::from(GO),
                ..Settings::default()
            };
            Self { folder, settings }
        }

        async fn locate(&self) -> Result<ControlPlane, Error> {
            ControlPlane::locate(Release::current(), &self.settings).await
        }

        fn path(&self, name: &str) -> PathBuf {
            self.folder.path().join("go").join(name)
        }

        fn calls(&self) -> Vec<String> {
            // There is no file before the first call.
            let text = fs::read_to_string(self.path("calls")).unwrap_or_default();
            drop(fs::remove_file(self.path("calls")));
            text.lines()
                .map(|line| line.split('/').next_back().unwrap().to_owned())
                .collect()
        }
    }

    #[tokio::test]
    async fn each_program_is_built_once_and_then_found() {
        let sandbox = Sandbox::new();
        let first = sandbox.locate().await.unwrap();
        assert_eq!(sandbox.calls().len(), Program::ALL.len());
        assert_eq!(sandbox.locate().await.unwrap(), first);
        assert!(sandbox.calls().is_empty());
        let name = format!("control-plane/1.36.3-{}", platform());
        assert!(first.folder().ends_with(name));
    }

    #[tokio::test]
    async fn only_damaged_or_missing_programs_are_built_again() {
        let sandbox = Sandbox::new();
        let found = sandbox.locate().await.unwrap();
        sandbox.calls();
        let scheduler = found.program(Program::Scheduler).unwrap();
        let damaged = fs::read_to_string(&scheduler)
            .unwrap()
            .replace("echo", "eoch");
        fs::write(&scheduler, damaged).unwrap();
        fs::remove_file(found.program(Program::Kwok).unwrap()).unwrap();
        sandbox.locate().await.unwrap();
        assert_eq!(sandbox.calls(), ["kube-scheduler", "kwok"]);
    }

    #[tokio::test]
    async fn program_with_a_new_date_and_equal_bytes_is_kept_without_go() {
        let mut sandbox = Sandbox::new();
        let found = sandbox.locate().await.unwrap();
        sandbox.calls();
        let etcd = found.program(Program::Etcd).unwrap();
        fs::write(&etcd, fs::read(&etcd).unwrap()).unwrap();
        sandbox.settings.go = PathBuf::from("no-such-go");
        sandbox.locate().await.unwrap();
        assert!(sandbox.calls().is_empty());
    }

    #[tokio::test]
    async fn failed_build_shows_the_output_of_go_and_keeps_finished_programs() {
        let sandbox = Sandbox::new();
        fs::write(sandbox.path("broken"), "kubectl").unwrap();
        let error = sandbox.locate().await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "run `go build k8s.io/kubernetes/cmd/kubectl`: it failed; its output ends with:\n\
             cannot find kubectl"
        );
        fs::remove_file(sandbox.path("broken")).unwrap();
        sandbox.calls();
        sandbox.locate().await.unwrap();
        assert_eq!(sandbox.calls().first().unwrap(), "kubectl");
    }

    #[tokio::test]
    async fn concurrent_calls_build_once() {
        let sandbox = Sandbox::new();
        let located = tokio::join!(sandbox.locate(), sandbox.locate(), sandbox.locate());
        assert!(located.0.is_ok() && located.1.is_ok() && located.2.is_ok());
        assert_eq!(sandbox.calls().len(), Program::ALL.len());
    }

    #[tokio::test]
    async fn error_for_a_missing_go_says_what_to_install() {
        let mut sandbox = Sandbox::new();
        sandbox.settings.go = PathBuf::from("no-such-go");
        let error = sandbox.locate().await.unwrap_err();
        assert!(matches!(error, Error::GoMissing));
        assert!(error.to_string().contains("install Go 1.26"));
    }

    #[tokio::test]
    async fn error_for_an_old_go_says_what_to_install() {
        let mut sandbox = Sandbox::new();
        sandbox.settings.go = PathBuf::from(format!("{GO}-old"));
        let error = sandbox.locate().await.unwrap_err().to_string();
        assert!(
            error.contains("is go1.24.1 linux/amd64, which is too old; install Go 1.26"),
            "{error}"
        );
    }

    #[tokio::test]
    async fn temporary_file_of_an_interrupted_build_is_removed_by_the_next() {
        let sandbox = Sandbox::new();
        let found = sandbox.locate().await.unwrap();
        let temporary = found.folder().join(".kube-apiserver.1");
        fs::write(&temporary, "half").unwrap();
        fs::remove_file(found.program(Program::Kwok).unwrap()).unwrap();
        sandbox.locate().await.unwrap();
        assert!(!temporary.exists());
    }

    #[tokio::test]
    async fn error_names_a_cache_folder_that_cannot_be_created() {
        let mut sandbox = Sandbox::new();
        sandbox.settings.cache = Path::new("/dev/null/cache").to_owned();
        let error = sandbox.locate().await.unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("write the control plane to /dev/null/cache/")
        );
        assert!(error.to_string().contains("KUBEWRIGHT_CACHE"));
    }

    #[tokio::test]
    async fn programs_in_the_assets_folder_are_used_without_a_build() {
        let mut sandbox = Sandbox::new();
        let built = sandbox.locate().await.unwrap();
        sandbox.calls();
        sandbox.settings.assets = Some(built.folder().to_owned());
        fs::remove_file(built.program(Program::Kwok).unwrap()).unwrap();
        let found = sandbox.locate().await.unwrap();
        assert!(sandbox.calls().is_empty());
        let error = found.program(Program::Kwok).unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("find kwok in KUBEBUILDER_ASSETS=")
        );
    }
}
