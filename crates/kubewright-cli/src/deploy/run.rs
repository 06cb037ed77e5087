//! `kubewright deploy`: an operator, in a cluster.

use clap::Args;
use kubewright_manifest::Component;

use super::arguments::{Force, Target};
use super::certificate::{WithCertificate, with_certificate};
use super::manifest_flags::{CertificateIssuer, ManifestFlags};
use super::plan::Plan;
use super::prune::{leftovers, operator_name};
use super::remove::remove;
use super::report::Action;
use super::wait::wait_until_ready;
use crate::error::Error;
use crate::objects::Located;
use crate::program::{self, BuildOutput, ClusterManifests};

/// The arguments of `kubewright deploy`.
#[derive(Args, Debug)]
pub(crate) struct DeployArguments {
    #[command(flatten)]
    target: Target,
    /// The operator's image.
    #[arg(long)]
    image: String,
    /// The namespace to run in [default: NAME-system].
    #[arg(long)]
    namespace: Option<String>,
    /// Add a component: network-policy, prometheus or pod-disruption-budget; may be given several
    /// times. A component of an earlier call is deleted when it is not given again.
    #[arg(long, value_name = "COMPONENT", value_delimiter = ',')]
    with: Vec<Component>,
    /// The issuer of the webhooks' certificate [default: this command].
    #[arg(long, value_name = "ISSUER")]
    certificates: Option<CertificateIssuer>,
    #[command(flatten)]
    force: Force,
}

/// Deploys an operator, waits until it is ready, and deletes the objects that only an earlier
/// version of it had.
///
/// # Cancel safety
///
/// Dropping the future may leave part of the objects applied; another run applies the rest.
pub(crate) async fn deploy(arguments: &DeployArguments) -> Result<(), Error> {
    let target = &arguments.target;
    let flags = ManifestFlags {
        image: Some(&arguments.image),
        namespace: arguments.namespace.as_deref(),
        with: &arguments.with,
        certificates: arguments.certificates,
        // Decided by what the cluster serves.
        no_policies: false,
    };
    let program = program::build(&target.folder, BuildOutput::Shown).await?;
    let client = target.access.client().await?;
    let manifests = program::manifests_for_cluster(&client, &program, flags.words()).await?;
    let replace_policies = manifests.replace_policies();
    let ClusterManifests { objects, flags } = manifests;
    let WithCertificate { objects, replaced } = match arguments.certificates {
        Some(_) => WithCertificate {
            objects,
            replaced: None,
        },
        None => with_certificate(&client, &program, &flags, objects).await?,
    };
    let mut report = target.new_report();
    if replace_policies {
        report.progress("note     this cluster does not serve policies: webhooks replace them");
    }
    if let Some(replaced) = &replaced {
        report.progress(format_args!("replace  {replaced}"));
    }
    let plan = Plan::make(&client, &objects, &arguments.force, &mut report).await?;
    let current = plan.locations();
    let mut leftovers = leftovers(&client, &operator_name(&objects), &current).await?;
    // An issuer that takes over continues with the Secret in the cluster.
    leftovers.retain(|object| arguments.certificates.is_none() || object.resource.kind != "Secret");
    for object in &leftovers {
        report.progress(format_args!("delete   {object}"));
        report.add(Action::Delete, object);
    }
    if !target.dry_run {
        if let Some(replaced) = &replaced {
            // The earlier issuer goes first, because it would write to the Secret again. The Secret
            // is deleted, so that the new one has none of the issuer's annotations and keys.
            let mut first: Vec<Located> = leftovers
                .iter()
                .filter(|object| replaced.belongs_to_issuer(object))
                .cloned()
                .collect();
            first.push(replaced.secret.clone());
            remove(&client, &first, target.wait()).await?;
        }
        plan.apply(&client).await?;
        wait_until_ready(&client, &current, target.wait()).await?;
        remove(&client, &leftovers, target.wait()).await?;
    }
    report.print()
}
