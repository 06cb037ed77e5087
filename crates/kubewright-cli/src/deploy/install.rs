//! `kubewright install`: the kinds of an operator, in a cluster.

use clap::Args;
use serde_json::Value;

use super::arguments::{Force, Target};
use super::definition::is_definition;
use super::plan::Plan;
use super::prune::{earlier_definitions, operator_name};
use super::report::Action;
use super::wait::wait_until_ready;
use crate::error::Error;
use crate::objects::{ServedKinds, calls_webhooks};
use crate::program::{self, BuildOutput};

/// The arguments of `kubewright install`.
#[derive(Args, Debug)]
pub(crate) struct InstallArguments {
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    force: Force,
}

/// Installs the kinds of an operator.
///
/// # Cancel safety
///
/// Dropping the future may leave part of the definitions applied; another run applies the rest.
pub(crate) async fn install(arguments: &InstallArguments) -> Result<(), Error> {
    let target = &arguments.target;
    let program = program::build(&target.folder, BuildOutput::Shown).await?;
    let objects = program::manifests(&program, &[]).await?;
    let operator = operator_name(&objects);
    let mut definitions: Vec<Value> = objects.into_iter().filter(is_definition).collect();
    let client = target.access.client().await?;
    keep_conversions(&client, &mut definitions).await?;
    let mut report = target.new_report();
    let plan = Plan::make(&client, &definitions, &arguments.force, &mut report).await?;
    for earlier in earlier_definitions(&client, &operator, &plan.locations()).await? {
        report.progress(format_args!(
            "keep     {earlier}: the operator no longer has it; kubectl delete crd {} would also \
             delete its objects",
            earlier.name
        ));
        report.add(Action::Keep, &earlier);
    }
    if !target.dry_run {
        plan.apply(&client).await?;
        wait_until_ready(&client, &plan.locations(), target.wait()).await?;
    }
    report.print()
}

/// Keeps the conversion of a kind as it is in the cluster: a deployed operator has put its
/// certificate authority there, which the manifests do not contain.
async fn keep_conversions(client: &kube::Client, definitions: &mut [Value]) -> Result<(), Error> {
    let mut kinds = ServedKinds::discover(client).await?;
    for definition in definitions
        .iter_mut()
        .filter(|definition| calls_webhooks(definition))
    {
        let located = kinds.locate(definition).await?;
        let live = located.find(client).await?.unwrap_or_default();
        if calls_webhooks(&live) {
            definition["spec"]["conversion"] = live["spec"]["conversion"].clone();
        }
    }
    Ok(())
}
