use std::fs;
use std::path::{Path, PathBuf};

use ring::digest::{SHA256, digest};

use super::go::{Go, Target};
use super::lock::Lock;
use super::release::hexadecimal;
use crate::progress::say;
use crate::{Error, Settings};

/// A program of others that tests hold their results against, built from its Go module.
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
    /// go-containerregistry's client for images and registries.
    Crane,
    /// Helm.
    Helm,
    /// The reference registry, which keeps images in memory.
    Registry,
}

const GO_MOD: &str = include_str!("../../go/tools/go.mod");
const GO_SUM: &str = include_str!("../../go/tools/go.sum");
const REGISTRY: &str = include_str!("../../go/tools/registry/main.go");

impl Tool {
    /// Finds the program, or builds it.
    ///
    /// Its file is named after all that decides what is in it, so that a change of ours builds it
    /// anew and one that is there is never built again.
    ///
    /// # Cancel safety
    ///
    /// When dropped, the running compiler is stopped.
    pub async fn locate(self, settings: &Settings) -> Result<PathBuf, Error> {
        let folder = settings.cache_folder()?.join("go-tools");
        let inputs = [GO_MOD, GO_SUM, REGISTRY].join("\n");
        let inputs = hexadecimal(digest(&SHA256, inputs.as_bytes()).as_ref());
        let inputs: String = inputs.chars().take(12).collect();
        let place = folder.join(format!("{}-{inputs}", self.name()));
        if place.is_file() {
            return Ok(place);
        }
        let go = Go {
            program: &settings.go,
            cache: &settings.cache,
        };
        go.find().await?;
        let not_writable = |source| Error::CacheNotWritable {
            folder: folder.clone(),
            source,
        };
        fs::create_dir_all(&folder).map_err(not_writable)?;
        let _lock = Lock::acquire(&folder).await?;
        if !place.is_file() {
            say(format_args!(
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
            fs::rename(&temporary, &place).map_err(not_writable)?;
        }
        Ok(place)
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
