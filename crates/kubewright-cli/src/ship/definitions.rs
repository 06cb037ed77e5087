use kube::Api;
use kube::api::{ApiResource, DynamicObject, ListParams};
use kubewright_manifest::unsafe_changes;
use serde_json::Value;

use super::plan::Plan;
use crate::error::Error;
use crate::objects::{Kinds, calls_webhooks};

/// Whether the object defines a kind.
pub(super) fn is_definition(object: &Value) -> bool {
    object["kind"] == "CustomResourceDefinition"
}

/// Refuses changes of definitions that objects in the cluster would not survive whole.
///
/// # Cancel safety
///
/// Safe: it only reads.
pub(super) async fn refuse_unsafe(client: &kube::Client, plan: &Plan) -> Result<(), Error> {
    let mut reasons = Vec::new();
    for step in plan.steps.iter().filter(|step| is_definition(&step.object)) {
        let Some(live) = &step.live else { continue };
        let changes = unsafe_changes(live, &step.object);
        if changes.is_empty() || count_instances(client, live).await? == 0 {
            continue;
        }
        let name = &step.located.name;
        reasons.extend(
            changes
                .into_iter()
                .map(|change| format!("{name}: {change}")),
        );
    }
    match reasons.is_empty() {
        true => Ok(()),
        false => Err(Error::UnsafeChange {
            reasons: reasons.join("\n  "),
        }),
    }
}

/// Leaves the way to whoever converts a kind as it is in the cluster: a deployed operator has put
/// its authority there, which the definition alone does not know.
///
/// # Cancel safety
///
/// Safe: it only reads.
pub(super) async fn keep_conversions(
    client: &kube::Client,
    definitions: &mut [Value],
) -> Result<(), Error> {
    let mut kinds = Kinds::discover(client).await?;
    for definition in definitions.iter_mut().filter(|one| calls_webhooks(one)) {
        let place = kinds.locate(definition).await?;
        let live = place.find(client).await?.unwrap_or_default();
        if calls_webhooks(&live) {
            definition["spec"]["conversion"] = live["spec"]["conversion"].clone();
        }
    }
    Ok(())
}

/// How many objects of the defined kind there are; beyond the first page an estimate of the
/// server's is added.
///
/// # Cancel safety
///
/// Safe: it only reads.
pub(super) async fn count_instances(client: &kube::Client, crd: &Value) -> Result<i64, Error> {
    let instances: Api<DynamicObject> = Api::all_with(client.clone(), &resource_of(crd));
    match instances.list(&ListParams::default().limit(100)).await {
        Ok(list) => {
            let first = i64::try_from(list.items.len()).unwrap_or(i64::MAX);
            Ok(first + list.metadata.remaining_item_count.unwrap_or_default())
        }
        // The definition is there and not served: nobody can have made objects of it.
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(0),
        Err(source) => Err(Error::Request {
            action: format!("list the objects of {}", crd["metadata"]["name"]),
            source: Box::new(source),
        }),
    }
}

/// The resource of the version that is stored.
fn resource_of(crd: &Value) -> ApiResource {
    let spec = &crd["spec"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let versions = spec["versions"].as_array();
    let served = |version: &&Value| version["served"] == true;
    let version = versions.and_then(|all| all.iter().find(served));
    let version = version
        .map(|version| text(&version["name"]))
        .unwrap_or_default();
    let group = text(&spec["group"]);
    ApiResource {
        api_version: format!("{group}/{version}"),
        group,
        version,
        kind: text(&spec["names"]["kind"]),
        plural: text(&spec["names"]["plural"]),
    }
}
