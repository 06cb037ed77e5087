//! `kubewright manifests`: everything that a cluster needs for an operator, as YAML, for kustomize
//! or as a Helm chart.

use std::path::{Path, PathBuf};

use clap::Args;
use kubewright_manifest::{Chart, Component, OutputFile, helm_chart, kustomization, to_yaml};

use super::manifest_flags::{CertificateIssuer, ManifestFlags};
use super::output_files::{changes, write};
use crate::error::Error;
use crate::objects::calls_webhooks;
use crate::output::{note, print, print_line};
use crate::program::{self, BuildOutput};

/// The arguments of `kubewright manifests`.
#[derive(Args, Debug)]
pub(crate) struct ManifestsArguments {
    /// The operator's folder: a Cargo package with one program.
    #[arg(default_value = ".")]
    folder: PathBuf,
    /// The operator's image; with it, the manifests also run the operator in the cluster.
    #[arg(long)]
    image: Option<String>,
    /// The namespace to run in [default: NAME-system].
    #[arg(long)]
    namespace: Option<String>,
    /// Add a component: network-policy, prometheus or pod-disruption-budget; may be given several
    /// times.
    #[arg(
        long,
        value_name = "COMPONENT",
        value_delimiter = ',',
        requires = "image"
    )]
    with: Vec<Component>,
    /// The issuer of the webhooks' certificate [default: the user that installs the operator].
    #[arg(long, value_name = "ISSUER")]
    certificates: Option<CertificateIssuer>,
    /// Use webhooks instead of policies, for a cluster that does not serve policies.
    #[arg(long)]
    no_policies: bool,
    /// Write a folder for `kustomize build` instead of printing.
    #[arg(long, value_name = "DIR", conflicts_with = "helm", requires = "image")]
    kustomize: Option<PathBuf>,
    /// Write a Helm chart instead of printing.
    #[arg(long, value_name = "DIR", requires = "image")]
    helm: Option<PathBuf>,
    /// Only show what would change in the files of `--kustomize` or `--helm`.
    #[arg(long)]
    dry_run: bool,
}

/// Prints or writes what a cluster needs for the operator.
///
/// # Cancel safety
///
/// Dropping the future may leave part of the files written.
pub(crate) async fn manifests(arguments: &ManifestsArguments) -> Result<(), Error> {
    let program = program::build(&arguments.folder, BuildOutput::Shown).await?;
    let flags = ManifestFlags {
        image: arguments.image.as_deref(),
        namespace: arguments.namespace.as_deref(),
        with: &arguments.with,
        certificates: arguments.certificates,
        no_policies: arguments.no_policies,
    };
    let objects = program::manifests(&program, &flags.words()).await?;
    let has_no_issuer = arguments.image.is_some() && arguments.certificates.is_none();
    if has_no_issuer && objects.iter().any(calls_webhooks) {
        note(
            "note: the Pod reads the webhooks' certificate from a Secret with the name of the \
             Service, and the webhook configurations need its authority as caBundle; `kubewright \
             deploy` creates both, --certificates selects an issuer that does",
        );
    }
    let failed = |source| Error::Manifest { source };
    if let Some(folder) = &arguments.kustomize {
        return arguments.write(folder, &kustomization(&objects).map_err(failed)?);
    }
    if let Some(folder) = &arguments.helm {
        let package = program::package(&arguments.folder).await?;
        let chart = Chart {
            name: package.name,
            version: package.version,
        };
        return arguments.write(folder, &helm_chart(&objects, &chart).map_err(failed)?);
    }
    print(&to_yaml(&objects).map_err(failed)?)
}

impl ManifestsArguments {
    /// Writes the files, or shows what that would change.
    fn write(&self, folder: &Path, files: &[OutputFile]) -> Result<(), Error> {
        if self.dry_run {
            changes(folder, files).iter().for_each(print_line);
            return Ok(());
        }
        write(folder, files)
    }
}
