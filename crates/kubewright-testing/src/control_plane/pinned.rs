//! Pins the modules of other Kubernetes versions than the current one.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::go::Go;
use super::go_mod::GoMod;
use super::lock::Lock;
use super::platform::programs_folder;
use super::release::{Module, Release};
use crate::progress::report;
use crate::{Error, Settings};

/// The file with the time at which Kubernetes was published. It is written last: if it exists, the
/// module beside it is complete.
const PUBLISHED: &str = "published";

/// The output of `go mod download -json`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Downloaded {
    go_mod: PathBuf,
    info: PathBuf,
}

/// The metadata of a module version.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Info {
    time: String,
}

impl Release {
    /// The release of a version such as `1.34.2`, with or without a leading `v`.
    ///
    /// For another version than [`current`](Self::current), the modules are pinned by the `go.mod`
    /// of Kubernetes, which Go downloads once; the pinned modules are kept in the cache folder.
    ///
    /// # Cancel safety
    ///
    /// When dropped, the running Go command is stopped, and the next call starts again.
    pub async fn find(version: &str, settings: &Settings) -> Result<Self, Error> {
        let current = Self::current();
        let number = version.strip_prefix('v').unwrap_or(version);
        if number == current.version {
            return Ok(current.clone());
        }
        let numbers: Vec<_> = number.split('.').collect();
        let is_number = |text: &&str| text.parse::<u32>().is_ok();
        match numbers.as_slice() {
            ["1", rest @ ..] if rest.len() == 2 && rest.iter().all(is_number) => {
                pin(number, settings).await
            }
            _ => Err(Error::UnknownVersion {
                version: version.to_owned(),
            }),
        }
    }
}

/// The release of another version: with the modules of its `go.mod`, and the current kwok.
async fn pin(version: &str, settings: &Settings) -> Result<Release, Error> {
    let programs = programs_folder(version, settings)?;
    let folder = programs.join("module/controlplane");
    let pinned = PinnedModule {
        version,
        folder: &folder,
        go: Go {
            program: &settings.go,
            cache: &settings.cache,
        },
    };
    if let Ok(release) = pinned.read() {
        return Ok(release);
    }
    fs::create_dir_all(&folder).map_err(|source| pinned.not_writable(source))?;
    let _lock = Lock::acquire(&programs).await?;
    // Another process may have pinned it while this one waited.
    if let Ok(release) = pinned.read() {
        return Ok(release);
    }
    pinned.go.check().await?;
    pinned.write().await?;
    pinned.read().map_err(|source| pinned.not_writable(source))
}

/// The module in the cache folder that pins the dependencies of a version.
struct PinnedModule<'a> {
    version: &'a str,
    folder: &'a Path,
    go: Go<'a>,
}

impl PinnedModule<'_> {
    /// Reads the release, if the module exists.
    fn read(&self) -> io::Result<Release> {
        let text = |name| fs::read_to_string(self.folder.join(name));
        let published = text(PUBLISHED)?;
        let (go_mod, go_sum) = (text("go.mod")?, text("go.sum")?);
        let pins = GoMod::parse(&go_mod);
        let etcd = pins.version_of("go.etcd.io/etcd/server/v3");
        let etcd = etcd.ok_or_else(|| io::Error::other("no etcd among the modules"))?;
        let current = Release::current();
        Ok(Release {
            version: self.version.to_owned().into(),
            etcd: etcd.trim_start_matches('v').to_owned().into(),
            kwok: current.kwok.clone(),
            published: published.into(),
            controlplane: Module {
                name: current.controlplane.name,
                go_mod: go_mod.into(),
                go_sum: go_sum.into(),
            },
            kwok_module: current.kwok_module.clone(),
        })
    }

    /// Downloads the `go.mod` of Kubernetes and writes the module.
    async fn write(&self) -> Result<(), Error> {
        let version = self.version;
        report(format_args!(
            "looking up the modules of Kubernetes {version}"
        ));
        let module = format!("k8s.io/kubernetes@v{version}");
        let output = self
            .go
            .module(self.folder, &["download", "-json", &module])
            .await?;
        let (go_mod, published) = self
            .compose(&output)
            .map_err(|source| self.not_writable(source))?;
        fs::write(self.folder.join("go.mod"), go_mod)
            .map_err(|source| self.not_writable(source))?;
        self.go.module(self.folder, &["tidy"]).await?;
        fs::write(self.folder.join(PUBLISHED), published)
            .map_err(|source| self.not_writable(source))
    }

    /// The `go.mod` of the module, and the time at which Kubernetes was published.
    fn compose(&self, output: &str) -> io::Result<(String, String)> {
        let downloaded: Downloaded = serde_json::from_str(output)?;
        let info: Info = serde_json::from_slice(&fs::read(downloaded.info)?)?;
        let kubernetes = fs::read_to_string(downloaded.go_mod)?;
        let go_mod = GoMod::parse(&kubernetes).control_plane(self.version);
        Ok((go_mod, info.time))
    }

    fn not_writable(&self, source: io::Error) -> Error {
        Error::CacheNotWritable {
            folder: self.folder.to_owned(),
            source,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use tempfile::TempDir;

    use crate::control_plane::{ControlPlane, Program, Release};
    use crate::{Error, Settings};

    const GO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/go");

    fn sandbox() -> (TempDir, Settings) {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("go")).unwrap();
        let settings = Settings {
            cache: folder.path().to_owned(),
            go: PathBuf::from(GO),
            ..Settings::default()
        };
        (folder, settings)
    }

    #[tokio::test]
    async fn error_for_an_invalid_version_shows_a_valid_one() {
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

    #[tokio::test]
    async fn older_version_is_pinned_by_its_go_mod_and_built() {
        let (_folder, settings) = sandbox();
        let release = Release::find("v1.34.2", &settings).await.unwrap();
        assert_eq!(release.version(), "1.34.2");
        assert_eq!(
            release.expected_version_output(Program::Etcd),
            "etcd Version: 3.6.4"
        );
        let flags = release.linker_flags(Program::ApiServer);
        assert!(flags.contains("version.gitMinor=34"), "{flags}");
        assert!(flags.contains("buildDate=2025-11-11T19:00:37Z"), "{flags}");
        assert_ne!(release.commit(), Release::current().commit());
        let found = ControlPlane::locate(&release, &settings).await.unwrap();
        assert!(found.program(Program::ApiServer).is_ok());
        assert_eq!(found.release(), &release);
    }

    #[tokio::test]
    async fn pinned_version_is_found_without_go() {
        let (_folder, mut settings) = sandbox();
        let first = Release::find("1.34.2", &settings).await.unwrap();
        settings.go = PathBuf::from("no-such-go");
        let second = Release::find("1.34.2", &settings).await.unwrap();
        assert_eq!(first, second);
        let other = Release::find("1.34.3", &settings).await.unwrap_err();
        assert!(matches!(other, Error::GoMissing), "{other}");
    }

    #[tokio::test]
    async fn error_for_an_unknown_version_contains_the_output_of_go() {
        let (_folder, settings) = sandbox();
        let error = Release::find("1.34.99", &settings).await.unwrap_err();
        let error = error.to_string();
        assert!(
            error.contains("go mod download -json k8s.io/kubernetes@v1.34.99"),
            "{error}"
        );
        assert!(error.contains("unknown revision v1.34.99"), "{error}");
    }
}
