use std::path::{Path, PathBuf};

use clap::Args;
use kubewright_manifest::{Chart, OutputFile, helm_chart, kustomization, to_yaml};

use super::certificate::calls_webhooks;
use crate::error::Error;
use crate::output::{note, print, say};
use crate::program::{self, Words};

/// What `kubewright manifests` is called with.
#[derive(Args, Debug)]
pub(crate) struct ManifestsArguments {
    /// The operator's folder: a Cargo package with one program.
    #[arg(default_value = ".")]
    folder: PathBuf,
    /// The operator's image; with it, also what runs the operator inside the cluster.
    #[arg(long)]
    image: Option<String>,
    /// The namespace to run in [default: NAME-system].
    #[arg(long)]
    namespace: Option<String>,
    /// Write a folder for `kustomize build` instead of printing.
    #[arg(long, value_name = "DIR", conflicts_with = "helm", requires = "image")]
    kustomize: Option<PathBuf>,
    /// Write a Helm chart instead of printing.
    #[arg(long, value_name = "DIR", requires = "image")]
    helm: Option<PathBuf>,
}

/// Prints or writes what a cluster needs for the operator.
///
/// # Cancel safety
///
/// Dropping the future may leave part of the files written.
pub(crate) async fn manifests(arguments: &ManifestsArguments) -> Result<(), Error> {
    let program = program::build(&arguments.folder, Words::Shown).await?;
    let flags = flags(arguments.image.as_deref(), arguments.namespace.as_deref());
    let objects = program::manifests(&program, &flags).await?;
    if arguments.image.is_some() && objects.iter().any(calls_webhooks) {
        note(
            "note: the Pod reads the webhooks' certificate from a Secret of the Service's name, \
             and the configurations need its authority as caBundle; `kubewright deploy` makes both",
        );
    }
    let failed = |source| Error::Manifest { source };
    if let Some(folder) = &arguments.kustomize {
        return write(folder, &kustomization(&objects).map_err(failed)?);
    }
    if let Some(folder) = &arguments.helm {
        let package = program::package(&arguments.folder).await?;
        let chart = Chart {
            name: package.name,
            version: package.version,
        };
        return write(folder, &helm_chart(&objects, &chart).map_err(failed)?);
    }
    print(&to_yaml(&objects).map_err(failed)?)
}

/// The flags of the operator's own `manifests`.
pub(super) fn flags<'a>(image: Option<&'a str>, namespace: Option<&'a str>) -> Vec<&'a str> {
    let image = image.map(|image| ["--image", image]);
    let namespace = namespace.map(|namespace| ["--namespace", namespace]);
    image.into_iter().chain(namespace).flatten().collect()
}

/// The files are output and nothing else: those that are there are written anew.
fn write(folder: &Path, files: &[OutputFile]) -> Result<(), Error> {
    for file in files {
        let path = folder.join(&file.path);
        let failed = |source| Error::File {
            action: "write",
            path: path.clone(),
            source,
        };
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(failed)?;
        }
        std::fs::write(&path, &file.text).map_err(failed)?;
        say(format_args!("wrote    {}", path.display()));
    }
    Ok(())
}
