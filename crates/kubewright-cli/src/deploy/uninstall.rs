//! `kubewright uninstall`: deletes the kinds of an operator from a cluster.

use clap::Args;

use super::arguments::Target;
use super::definition::{count_instances, is_definition};
use super::remove::remove;
use super::report::Action;
use crate::error::Error;
use crate::objects::{Located, ServedKinds};
use crate::program::{self, BuildOutput};

/// The arguments of `kubewright uninstall`.
#[derive(Args, Debug)]
pub(crate) struct UninstallArguments {
    #[command(flatten)]
    target: Target,
    /// Also delete all objects of the kinds.
    #[arg(long)]
    delete_instances: bool,
}

/// Deletes the kinds of an operator from a cluster, unless objects of them exist.
///
/// # Cancel safety
///
/// Dropping the future may leave part of the definitions; another run deletes the rest.
pub(crate) async fn uninstall(arguments: &UninstallArguments) -> Result<(), Error> {
    let target = &arguments.target;
    let program = program::build(&target.folder, BuildOutput::Shown).await?;
    let objects = program::manifests(&program, &[]).await?;
    let client = target.access.client().await?;
    let mut kinds = ServedKinds::discover(&client).await?;
    let mut deleted: Vec<Located> = Vec::new();
    let mut remaining = Vec::new();
    let mut report = target.new_report();
    for definition in objects.iter().filter(|object| is_definition(object)) {
        let located = kinds.locate(definition).await?;
        let Some(live) = located.find(&client).await? else {
            continue;
        };
        let count = count_instances(&client, &live).await?;
        if count > 0 {
            remaining.push(format!("{count} of {}", located.name));
        }
        report.progress(format_args!("delete   {located} ({count} objects)"));
        report.add(Action::Delete, &located);
        deleted.push(located);
    }
    if !remaining.is_empty() && !arguments.delete_instances {
        let remaining = remaining.join(", ");
        if !target.dry_run {
            return Err(Error::InstancesRemain { remaining });
        }
        report.progress(format_args!(
            "note     {remaining} would be deleted with them: without --delete-instances nothing \
             is deleted"
        ));
    }
    if !target.dry_run {
        remove(&client, &deleted, target.wait()).await?;
    }
    report.print()
}
