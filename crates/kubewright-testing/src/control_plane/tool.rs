//! Tools of other projects that tests compare their results with.

use std::fs;
use std::path::{Path, PathBuf};

use ring::digest::{SHA256, digest};

use super::go::{Go, Target};
use super::lock::Lock;
use super::release::hexadecimal;
use crate::progress::report;
use crate::{Error, Settings};

/// A program of another project that tests compare their results with, built from its Go module.
///
/// ```no_run
/// # async fn example() -> Result<(), kubewright_testing::Error> {
/// use kubewright_testing::Settings;
/// use kubewright_testing::control_plane::Tool;
///
/// let helm = Tool::Helm.locate(&Settings::from_environment()?).await?;
/// println!("{}", helm.display());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Tool {
    /// The client for images and registries of go-containerregistry.
    Crane,
    /// Helm.
    Helm,
    /// The reference registry, with images in memory.
    Registry,
}

const GO_MOD: &str = include_str!("../../go/tools/go.mod");
const GO_SUM: &str = include_str!("../../go/tools/go.sum");
const REGISTRY: &str = include_str!("../../go/tools/registry/main.go");

impl Tool {
    /// Locates the program, or builds it.
    ///
    /// The name of its file contains a digest of the inputs of the build, so that it is built again
    /// only when they change.
    ///
    /// # Cancel safety
    ///
    /// When dropped, the running compiler is stopped.
    pub async fn locate(self, settings: &Settings) -> Result<PathBuf, Error> {
        let folder = settings.cache_folder()?.join("go-tools");
        let inputs = [GO_MOD, GO_SUM, REGISTRY].join("\n");
        let digits = hexadecimal(digest(&SHA256, inputs.as_bytes()).as_ref());
        let version: String = digits.chars().take(12).collect();
        let path = folder.join(format!("{}-{version}", self.name()));
        if path.is_file() {
            return Ok(path);
        }
        let go = Go {
            program: &settings.go,
            cache: &settings.cache,
        };
        go.check().await?;
        let not_writable = |source| Error::CacheNotWritable {
            folder: folder.clone(),
            source,
        };
        fs::create_dir_all(&folder).map_err(not_writable)?;
        let _lock = Lock::acquire(&folder).await?;
        if !path.is_file() {
            report(format_args!(
                "building {}; the first build takes minutes",
                self.name()
            ));
            let module = folder.join("module");
            write_module(&module).map_err(not_writable)?;
            let temporary = folder.join(format!(".{}.{}", self.name(), std::process::id()));
            let target = Target {
                name: self.name(),
                module: &module,
                package: self.package(),
                linker_flags: "-s -w",
                output: &temporary,
            };
            go.build(target).await?;
            fs::rename(&temporary, &path).map_err(not_writable)?;
        }
        Ok(path)
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Crane => "crane",
            Self::Helm => "helm",
            Self::Registry => "registry",
        }
    }

    const fn package(self) -> &'static str {
        match self {
            Self::Crane => "github.com/google/go-containerregistry/cmd/crane",
            Self::Helm => "helm.sh/helm/v4/cmd/helm",
            Self::Registry => "./registry",
        }
    }
}

fn write_module(folder: &Path) -> std::io::Result<()> {
    fs::create_dir_all(folder.join("registry"))?;
    fs::write(folder.join("go.mod"), GO_MOD)?;
    fs::write(folder.join("go.sum"), GO_SUM)?;
    fs::write(folder.join("registry/main.go"), REGISTRY)
}
