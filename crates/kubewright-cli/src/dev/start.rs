//! Installs what the program needs in the cluster, and starts it.

use std::path::Path;

use serde_json::Value;

use super::cluster::DevCluster;
use super::install::{Installed, install, token};
use super::operator::Operator;
use super::shown_kinds::ShownKinds;
use super::view::View;
use super::webhooks::Webhooks;
use crate::error::Error;
use crate::objects::{
    AbsentVersion, ServedKinds, absent_versions, calls_webhooks, has_several_versions,
    is_converted, without_webhooks,
};
use crate::program::{self, NO_POLICIES};

/// An operator that was started.
pub(super) struct Started {
    pub(super) operator: Operator,
    pub(super) shown: ShownKinds,
    /// Versions that were not installed, because the cluster cannot call their conversion webhook.
    pub(super) absent: Vec<AbsentVersion>,
    /// The webhooks that the operator will serve.
    pub(super) webhooks: Option<Webhooks>,
}

/// Installs what the program needs in the cluster, and starts it.
///
/// # Cancel safety
///
/// Dropping the future may leave part of the objects applied; another start applies the rest.
pub(super) async fn start(
    cluster: &DevCluster,
    program: &Path,
    scratch: &Path,
    view: &mut View,
) -> Result<Started, Error> {
    let client = cluster.client();
    let manifests = program::manifests_for_cluster(&client, program, Vec::new()).await?;
    let mut flags: Vec<String> = Vec::new();
    if manifests.replace_policies() {
        view.note("policies: not served by this cluster, webhooks replace them");
        flags.push(NO_POLICIES.to_owned());
    }
    let mut objects = manifests.objects;
    let mut absent = Vec::new();
    let webhooks = webhooks(cluster, scratch, &objects).await?;
    if let Some(webhooks) = &webhooks {
        let webhook_flags = webhooks.manifest_flags();
        let words: Vec<&str> = manifests
            .flags
            .iter()
            .copied()
            .chain(webhook_flags.iter().map(String::as_str))
            .collect();
        objects = program::manifests(program, &words).await?;
        flags.extend(webhooks.run_flags());
    } else if objects.iter().any(calls_webhooks) {
        view.note("webhooks: skipped, because this cluster cannot call this machine");
        objects = uncalled(&client, objects, &mut absent, view).await?;
        flags.push("--no-webhooks".to_owned());
    }
    let Installed { account, removed } = install(&client, &objects).await?;
    let shown = ShownKinds::of(&client, &objects).await?;
    view.note(format_args!(
        "installed: {} objects from `manifests`",
        objects.len()
    ));
    for policy in removed {
        view.note(format_args!(
            "removed: {policy}, which the program no longer has"
        ));
    }
    let token = token(&client, &account).await?;
    let kubeconfig = scratch.join("operator.yaml");
    cluster.write_kubeconfig(&kubeconfig, &token)?;
    Ok(Started {
        operator: Operator::start(program, &kubeconfig, &flags)?,
        shown,
        absent,
        webhooks,
    })
}

/// Prepares to serve webhooks, if the program has some and the cluster can call them.
async fn webhooks(
    cluster: &DevCluster,
    scratch: &Path,
    objects: &[Value],
) -> Result<Option<Webhooks>, Error> {
    if objects.iter().any(calls_webhooks) && cluster.is_on_this_machine()? {
        return Webhooks::prepare(scratch).await.map(Some);
    }
    Ok(None)
}

/// Returns the objects for a cluster that cannot call this machine, and adds the versions that it
/// does not get to `absent`. A converted definition that has several versions in the cluster is
/// left unchanged: another operator converts it there.
async fn uncalled(
    client: &kube::Client,
    objects: Vec<Value>,
    absent: &mut Vec<AbsentVersion>,
    view: &mut View,
) -> Result<Vec<Value>, Error> {
    let mut kinds = ServedKinds::discover(client).await?;
    let mut installed = Vec::new();
    for object in objects {
        if is_converted(&object) {
            let located = kinds.locate(&object).await?;
            let live = located.find(client).await?.unwrap_or_default();
            if has_several_versions(&live) {
                view.note(format_args!(
                    "unchanged: {located}, which has several versions in the cluster"
                ));
                continue;
            }
            absent.extend(absent_versions(&object));
        }
        installed.push(object);
    }
    Ok(without_webhooks(installed))
}
