use clap::Args;
use kubewright_manifest::Component;
use serde_json::Value;

use super::arguments::Target;
use super::certificate::{Certified, with_certificate};
use super::definition_changes::is_definition;
use super::install::Force;
use super::manifest_flags::{Flags, Maker};
use super::plan::Plan;
use super::prune::left_over;
use super::remove::remove;
use super::report::{Action, Answer};
use super::wait;
use crate::error::Error;
use crate::objects::{Kinds, Located, is_converted};
use crate::program::{self, ClusterManifests, Words};

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
    /// Add a component: network-policy, prometheus or pod-disruption-budget; may be given several
    /// times. Without it, one that an earlier call added goes.
    #[arg(long, value_name = "COMPONENT", value_delimiter = ',')]
    with: Vec<Component>,
    /// Who makes the webhooks' certificate [default: this command].
    #[arg(long, value_name = "WHO")]
    certificates: Option<Maker>,
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
    let flags = Flags {
        image: Some(&arguments.image),
        namespace: arguments.namespace.as_deref(),
        with: &arguments.with,
        certificates: arguments.certificates,
        // What the cluster serves decides.
        ..Flags::default()
    };
    let program = program::build(&target.folder, Words::Shown).await?;
    let client = target.access.client().await?;
    let fitting = program::manifests_for_cluster(&client, &program, flags.words()).await?;
    let has_stand_ins = fitting.has_stand_ins();
    let ClusterManifests { objects, flags } = fitting;
    let Certified { objects, replaced } = match arguments.certificates {
        Some(_) => Certified {
            objects,
            replaced: None,
        },
        None => with_certificate(&client, &program, &flags, objects).await?,
    };
    let mut answer = Answer::to(target);
    if has_stand_ins {
        answer
            .tell("note     this cluster does not serve the policies: webhooks stand in for them");
    }
    if let Some(replaced) = &replaced {
        answer.tell(format_args!("replace  {replaced}"));
    }
    let plan = Plan::make(&client, &objects, &arguments.force, &mut answer).await?;
    let places = plan.places();
    let mut left_over = left_over(&client, &operator(&objects), &places).await?;
    // Whoever makes the certificate from now on goes on with the Secret that is there.
    left_over.retain(|one| arguments.certificates.is_none() || one.resource.kind != "Secret");
    for place in &left_over {
        answer.tell(format_args!("delete   {place}"));
        answer.add(Action::Delete, place);
    }
    if !target.dry_run {
        let form = target.answer.output;
        if let Some(replaced) = &replaced {
            // Whoever kept the Secret would write to it again; and one that is made anew has none
            // of their annotations, owners and keys.
            let is_means = |one: &&Located| replaced.is_means(one);
            let mut first: Vec<Located> = left_over.iter().filter(is_means).cloned().collect();
            first.push(replaced.secret.clone());
            remove(&client, &first, target.timeout(), form).await?;
        }
        plan.apply(&client).await?;
        wait::until_ready(&client, &places, target.timeout(), form).await?;
        remove(&client, &left_over, target.timeout(), form).await?;
    }
    answer.give()
}

/// Takes an operator out of a cluster; its kinds stay, with all objects of them.
///
/// # Cancel safety
///
/// Dropping the future may leave part of the objects; another run deletes the rest.
pub(crate) async fn undeploy(arguments: &UndeployArguments) -> Result<(), Error> {
    let target = &arguments.target;
    let flags = Flags {
        image: Some("none"),
        namespace: arguments.namespace.as_deref(),
        ..Flags::default()
    };
    let program = program::build(&target.folder, Words::Shown).await?;
    let client = target.access.client().await?;
    let fitting = program::manifests_for_cluster(&client, &program, flags.words()).await?;
    let objects = fitting.objects;
    let mut kinds = Kinds::discover(&client).await?;
    let mut places = Vec::new();
    // What runs goes first, and the account and its role when nobody needs them any more.
    for object in objects.iter().rev() {
        if is_kept(object) {
            continue;
        }
        let place = kinds.locate(object).await?;
        if place.find(&client).await?.is_some() {
            places.push(place);
        }
    }
    places.extend(left_over(&client, &operator(&objects), &places).await?);
    let mut answer = Answer::to(target);
    for place in &places {
        answer.tell(format_args!("delete   {place}"));
        answer.add(Action::Delete, place);
    }
    for kept in objects.iter().filter(|one| is_kept(one)) {
        let place = kinds.locate(kept).await?;
        answer.tell(format_args!("keep     {place}{}", unconverted(kept)));
        answer.add(Action::Keep, &place);
    }
    if !target.dry_run {
        let form = target.answer.output;
        remove(&client, &places, target.timeout(), form).await?;
    }
    answer.give()
}

/// Whether the object stays when the operator goes: others' objects would go with it.
fn is_kept(object: &Value) -> bool {
    is_definition(object) || object["kind"] == "Namespace"
}

/// What is lost of a kind while nobody converts it.
fn unconverted(definition: &Value) -> String {
    if !is_converted(definition) {
        return String::new();
    }
    let versions = definition["spec"]["versions"].as_array();
    let mut versions = versions.into_iter().flatten();
    let stored = versions.find(|version| version["storage"] == true);
    let stored = stored.and_then(|version| version["name"].as_str());
    let stored = stored.unwrap_or("the one that is stored");
    format!(": until the operator is back, of its versions only {stored} can be used")
}

/// The operator's name, as its account has it.
pub(super) fn operator(objects: &[Value]) -> String {
    let account = objects
        .iter()
        .find(|object| object["kind"] == "ServiceAccount");
    let name = account.and_then(|account| account["metadata"]["name"].as_str());
    name.unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::unconverted;

    #[test]
    fn a_kept_kind_that_nobody_converts_any_more_says_which_version_is_left() {
        let mut definition = json!({"kind": "CustomResourceDefinition", "spec": {"versions": [
            {"name": "v2", "storage": false}, {"name": "v1", "storage": true},
        ]}});
        assert_eq!(unconverted(&definition), "");
        definition["spec"]["conversion"] = json!({"strategy": "Webhook"});
        assert_eq!(
            unconverted(&definition),
            ": until the operator is back, of its versions only v1 can be used"
        );
    }
}
