use clap::Args;
use serde_json::Value;

use super::arguments::Target;
use super::definition_changes::{count_instances, is_definition, keep_conversions};
use super::plan::Plan;
use super::prune::former_definitions;
use super::remove::remove;
use super::report::{Action, Answer};
use super::run::operator;
use super::wait;
use crate::error::Error;
use crate::objects::{Kinds, Located, Ownership};
use crate::program::{self, Words};

/// What `kubewright install` is called with.
#[derive(Args, Debug)]
pub(crate) struct InstallArguments {
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    pub(super) force: Force,
}

/// What is refused unless it is asked for.
#[derive(Args, Debug)]
pub(crate) struct Force {
    /// Change definitions even where objects that are there would break.
    #[arg(long)]
    pub(super) allow_unsafe: bool,
    /// Take fields over that somebody else has set.
    #[arg(long)]
    force_conflicts: bool,
}

impl Force {
    pub(super) fn ownership(&self) -> Ownership {
        match self.force_conflicts {
            true => Ownership::Taken,
            false => Ownership::Shared,
        }
    }
}

/// What `kubewright uninstall` is called with.
#[derive(Args, Debug)]
pub(crate) struct UninstallArguments {
    #[command(flatten)]
    target: Target,
    /// Delete all objects of the kinds, too.
    #[arg(long)]
    delete_instances: bool,
}

/// Brings the kinds of an operator into a cluster.
///
/// # Cancel safety
///
/// Dropping the future may leave part of the definitions applied; another run does the rest.
pub(crate) async fn install(arguments: &InstallArguments) -> Result<(), Error> {
    let target = &arguments.target;
    let (operator, mut definitions) = definitions(target).await?;
    let client = target.access.client().await?;
    keep_conversions(&client, &mut definitions).await?;
    let mut answer = Answer::to(target);
    let plan = Plan::make(&client, &definitions, &arguments.force, &mut answer).await?;
    for former in former_definitions(&client, &operator, &plan.places()).await? {
        answer.tell(format_args!(
            "keep     {former}: the operator no longer has it; kubectl delete crd {} would take \
             its objects along",
            former.name
        ));
        answer.add(Action::Keep, &former);
    }
    if !target.dry_run {
        plan.apply(&client).await?;
        let form = target.answer.output;
        wait::until_ready(&client, &plan.places(), target.timeout(), form).await?;
    }
    answer.give()
}

/// Takes the kinds of an operator out of a cluster, unless there are objects of them.
///
/// # Cancel safety
///
/// Dropping the future may leave part of the definitions; another run deletes the rest.
pub(crate) async fn uninstall(arguments: &UninstallArguments) -> Result<(), Error> {
    let target = &arguments.target;
    let (_, definitions) = definitions(target).await?;
    let client = target.access.client().await?;
    let mut kinds = Kinds::discover(&client).await?;
    let mut places: Vec<Located> = Vec::new();
    let mut remaining = Vec::new();
    let mut answer = Answer::to(target);
    for definition in &definitions {
        let place = kinds.locate(definition).await?;
        let Some(live) = place.find(&client).await? else {
            continue;
        };
        let count = count_instances(&client, &live).await?;
        if count > 0 {
            remaining.push(format!("{count} of {}", place.name));
        }
        answer.tell(format_args!("delete   {place} ({count} objects)"));
        answer.add(Action::Delete, &place);
        places.push(place);
    }
    if !remaining.is_empty() && !arguments.delete_instances {
        let remaining = remaining.join(", ");
        if !target.dry_run {
            return Err(Error::InstancesRemain { remaining });
        }
        answer.tell(format_args!(
            "note     {remaining} would go with them: without --delete-instances nothing is deleted"
        ));
    }
    if !target.dry_run {
        let form = target.answer.output;
        remove(&client, &places, target.timeout(), form).await?;
    }
    answer.give()
}

/// The operator's name, and the definitions that it brings along.
async fn definitions(target: &Target) -> Result<(String, Vec<Value>), Error> {
    let program = program::build(&target.folder, Words::Shown).await?;
    let mut objects = program::manifests(&program, &[]).await?;
    let name = operator(&objects);
    objects.retain(is_definition);
    Ok((name, objects))
}
