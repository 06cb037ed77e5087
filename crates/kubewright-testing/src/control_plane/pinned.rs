use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::go::Go;
use super::go_mod::GoMod;
use super::locate::folder_of;
use super::lock::Lock;
use super::release::{Module, Release};
use crate::progress::say;
use crate::{Error, Settings};

/// Says, once it is there, that the module beside it is whole, and when Kubernetes was published.
const PUBLISHED: &str = "published";

/// What `go mod download -json` answers.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Downloaded {
    go_mod: PathBuf,
    info: PathBuf,
}

/// What the module index says of a version.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Info {
    time: String,
}

/// The release of a version that nobody has pinned: with the modules that Kubernetes itself names,
/// and the kwok of today.
pub(super) async fn pin(version: &str, settings: &Settings) -> Result<Release, Error> {
    let all = folder_of(version, settings)?;
    let folder = all.join("module/controlplane");
    let pinned = Pinned {
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
    let _lock = Lock::acquire(&all).await?;
    // Another process may have been first.
    if let Ok(release) = pinned.read() {
        return Ok(release);
    }
    pinned.go.find().await?;
    pinned.write().await?;
    pinned.read().map_err(|source| pinned.not_writable(source))
}

/// A module of ours on its way into the cache folder.
struct Pinned<'a> {
    version: &'a str,
    folder: &'a Path,
    go: Go<'a>,
}

impl Pinned<'_> {
    /// The release that is pinned already.
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

    /// Asks Go what Kubernetes needs, and has it written down.
    async fn write(&self) -> Result<(), Error> {
        let version = self.version;
        say(format_args!(
            "looking up the modules of Kubernetes {version}"
        ));
        let module = format!("k8s.io/kubernetes@v{version}");
        let answer = self
            .go
            .module(self.folder, &["download", "-json", &module])
            .await?;
        let go_mod = self.compose(&answer);
        let (go_mod, published) = go_mod.map_err(|source| self.not_writable(source))?;
        let written = fs::write(self.folder.join("go.mod"), go_mod);
        written.map_err(|source| self.not_writable(source))?;
        self.go.module(self.folder, &["tidy"]).await?;
        let written = fs::write(self.folder.join(PUBLISHED), published);
        written.map_err(|source| self.not_writable(source))
    }

    /// Our `go.mod`, and when Kubernetes was published.
    fn compose(&self, answer: &str) -> io::Result<(String, String)> {
        let downloaded: Downloaded = serde_json::from_str(answer)?;
        let info: Info = serde_json::from_slice(&fs::read(downloaded.info)?)?;
        let theirs = fs::read_to_string(downloaded.go_mod)?;
        let ours = GoMod::parse(&theirs).control_plane(self.version);
        Ok((ours, info.time))
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
    async fn an_older_version_is_pinned_by_its_own_go_mod_and_built() {
        let (_folder, settings) = sandbox();
        let release = Release::find("v1.34.2", &settings).await.unwrap();
        assert_eq!(release.version(), "1.34.2");
        assert_eq!(release.version_answer(Program::Etcd), "etcd Version: 3.6.4");
        let flags = release.linker_flags(Program::ApiServer);
        assert!(flags.contains("version.gitMinor=34"), "{flags}");
        assert!(flags.contains("buildDate=2025-11-11T19:00:37Z"), "{flags}");
        assert_ne!(release.commit(), Release::current().commit());
        let found = ControlPlane::locate(&release, &settings).await.unwrap();
        assert!(found.program(Program::ApiServer).is_ok());
        assert_eq!(found.release(), &release);
    }

    #[tokio::test]
    async fn a_version_that_was_pinned_once_needs_no_go() {
        let (_folder, mut settings) = sandbox();
        let first = Release::find("1.34.2", &settings).await.unwrap();
        settings.go = PathBuf::from("no-such-go");
        let second = Release::find("1.34.2", &settings).await.unwrap();
        assert_eq!(first, second);
        let other = Release::find("1.34.3", &settings).await.unwrap_err();
        assert!(matches!(other, Error::GoMissing), "{other}");
    }

    #[tokio::test]
    async fn a_version_that_there_is_not_is_told_in_the_words_of_go() {
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
