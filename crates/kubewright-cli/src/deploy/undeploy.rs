//! `kubewright undeploy`: deletes an operator from a cluster and keeps its kinds.

use clap::Args;
use serde_json::Value;

use super::arguments::Target;
use super::definition::is_definition;
use super::manifest_flags::ManifestFlags;
use super::prune::{leftovers, operator_name};
use super::remove::remove;
use super::report::Action;
use crate::error::Error;
use crate::objects::{ServedKinds, is_converted};
use crate::program::{self, BuildOutput};

/// The arguments of `kubewright undeploy`.
#[derive(Args, Debug)]
pub(crate) struct UndeployArguments {
    #[command(flatten)]
    target: Target,
    /// The namespace it runs in [default: NAME-system].
    #[arg(long)]
    namespace: Option<String>,
}

/// Deletes an operator from a cluster; its kinds stay, with all their objects.
///
/// # Cancel safety
///
/// Dropping the future may leave part of the objects; another run deletes the rest.
pub(crate) async fn undeploy(arguments: &UndeployArguments) -> Result<(), Error> {
    let target = &arguments.target;
    let flags = ManifestFlags {
        image: Some("none"),
        namespace: arguments.namespace.as_deref(),
        ..ManifestFlags::default()
    };
    let program = program::build(&target.folder, BuildOutput::Shown).await?;
    let client = target.access.client().await?;
    let manifests = program::manifests_for_cluster(&client, &program, flags.words()).await?;
    let objects = manifests.objects;
    let mut kinds = ServedKinds::discover(&client).await?;
    let mut deleted = Vec::new();
    // In reverse: the Deployment is deleted before the account and the role that its Pods use.
    for object in objects.iter().rev().filter(|object| !is_kept(object)) {
        let located = kinds.locate(object).await?;
        if located.find(&client).await?.is_some() {
            deleted.push(located);
        }
    }
    deleted.extend(leftovers(&client, &operator_name(&objects), &deleted).await?);
    let mut report = target.new_report();
    for object in &deleted {
        report.progress(format_args!("delete   {object}"));
        report.add(Action::Delete, object);
    }
    for kept in objects.iter().filter(|object| is_kept(object)) {
        let located = kinds.locate(kept).await?;
        report.progress(format_args!("keep     {located}{}", conversion_note(kept)));
        report.add(Action::Keep, &located);
    }
    if !target.dry_run {
        remove(&client, &deleted, target.wait()).await?;
    }
    report.print()
}

/// Whether the object stays: deleting it would delete objects of users.
fn is_kept(object: &Value) -> bool {
    is_definition(object) || object["kind"] == "Namespace"
}

/// Returns a note on the versions of a kind that need the operator's conversion.
fn conversion_note(definition: &Value) -> String {
    if !is_converted(definition) {
        return String::new();
    }
    let versions = definition["spec"]["versions"].as_array();
    let mut versions = versions.into_iter().flatten();
    let stored = versions
        .find(|version| version["storage"] == true)
        .and_then(|version| version["name"].as_str())
        .unwrap_or("the stored one");
    format!(": without the operator, only its version {stored} can be used")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::conversion_note;

    #[test]
    fn note_on_a_converted_kind_names_the_version_that_stays_usable() {
        let mut definition = json!({"kind": "CustomResourceDefinition", "spec": {"versions": [
            {"name": "v2", "storage": false}, {"name": "v1", "storage": true},
        ]}});
        assert_eq!(conversion_note(&definition), "");
        definition["spec"]["conversion"] = json!({"strategy": "Webhook"});
        assert_eq!(
            conversion_note(&definition),
            ": without the operator, only its version v1 can be used"
        );
    }
}
