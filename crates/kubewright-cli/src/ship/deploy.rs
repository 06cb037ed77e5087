use clap::Args;
use serde_json::Value;

use super::arguments::Target;
use super::certificate::with_certificate;
use super::definitions::{is_definition, refuse_unsafe};
use super::install::Force;
use super::manifests::flags;
use super::plan::Plan;
use super::prune::left_over;
use super::remove::remove;
use super::wait;
use crate::error::Error;
use crate::objects::Kinds;
use crate::output::say;
use crate::program::{self, Words};

/// What `kubewright deploy` is called with.
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
    #[command(flatten)]
    force: Force,
}

/// What `kubewright undeploy` is called with.
#[derive(Args, Debug)]
pub(crate) struct UndeployArguments {
    #[command(flatten)]
    target: Target,
    /// The namespace it runs in [default: NAME-system].
    #[arg(long)]
    namespace: Option<String>,
}

/// Brings an operator into a cluster, waits until it runs, and deletes what an earlier version
/// brought and this one does not.
///
/// # Cancel safety
///
/// Dropping the future may leave part of the objects applied; another run does the rest.
pub(crate) async fn deploy(arguments: &DeployArguments) -> Result<(), Error> {
    let target = &arguments.target;
    let namespace = arguments.namespace.as_deref();
    let flags = flags(Some(&arguments.image), namespace);
    let program = program::build(&target.folder, Words::Shown).await?;
    let objects = program::manifests(&program, &flags).await?;
    let client = target.access.client().await?;
    let objects = with_certificate(&client, &program, &flags, objects).await?;
    let plan = Plan::make(&client, &objects, arguments.force.ownership()).await?;
    let places = plan.places();
    let left_over = left_over(&client, &operator(&objects), &places).await?;
    plan.show();
    for place in &left_over {
        say(format_args!("delete   {place}"));
    }
    if !arguments.force.allow_unsafe {
        refuse_unsafe(&client, &plan).await?;
    }
    if target.dry_run {
        return Ok(());
    }
    plan.apply(&client).await?;
    wait::until_ready(&client, &places, target.timeout()).await?;
    remove(&client, &left_over, target.timeout()).await
}

/// Takes an operator out of a cluster; its kinds stay, with all objects of them.
///
/// # Cancel safety
///
/// Dropping the future may leave part of the objects; another run deletes the rest.
pub(crate) async fn undeploy(arguments: &UndeployArguments) -> Result<(), Error> {
    let target = &arguments.target;
    let flags = flags(Some("none"), arguments.namespace.as_deref());
    let program = program::build(&target.folder, Words::Shown).await?;
    let objects = program::manifests(&program, &flags).await?;
    let client = target.access.client().await?;
    let mut kinds = Kinds::discover(&client).await?;
    let mut places = Vec::new();
    // What runs goes first, and the account and its role when nobody needs them any more.
    for object in objects.iter().rev() {
        if is_definition(object) || object["kind"] == "Namespace" {
            continue;
        }
        let place = kinds.locate(object).await?;
        if place.find(&client).await?.is_some() {
            places.push(place);
        }
    }
    places.extend(left_over(&client, &operator(&objects), &places).await?);
    for place in &places {
        say(format_args!("delete   {place}"));
    }
    for kept in objects
        .iter()
        .filter(|one| is_definition(one) || one["kind"] == "Namespace")
    {
        let name = kept["metadata"]["name"].as_str().unwrap_or_default();
        say(format_args!(
            "keep     {} {name}",
            kept["kind"].as_str().unwrap_or_default()
        ));
    }
    if target.dry_run {
        return Ok(());
    }
    remove(&client, &places, target.timeout()).await
}

/// The operator's name, as its account has it.
fn operator(objects: &[Value]) -> String {
    let account = objects
        .iter()
        .find(|object| object["kind"] == "ServiceAccount");
    let name = account.and_then(|account| account["metadata"]["name"].as_str());
    name.unwrap_or_default().to_owned()
}
