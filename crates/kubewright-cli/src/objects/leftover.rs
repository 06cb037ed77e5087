//! Objects that earlier runs applied for an operator and that its manifests no longer have.

use kube::Api;
use kube::api::{ApiResource, DynamicObject, ListParams};
use serde_json::Value;

use super::located::Located;
use super::served_kinds::{KindName, ServedKinds};
use crate::error::Error;

/// The objects that earlier runs applied for an operator.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EarlierRuns<'a> {
    /// The name of the operator, which its objects have as a label.
    pub(crate) operator: &'a str,
    /// The field manager of the runs.
    pub(crate) manager: &'a str,
    pub(crate) kinds: &'a [KindName],
}

/// Returns the objects of earlier runs that are not among the current ones, in the order of their
/// kinds.
///
/// # Cancel safety
///
/// Safe: it only reads.
pub(crate) async fn leftovers(
    client: &kube::Client,
    runs: EarlierRuns<'_>,
    current: &[Located],
) -> Result<Vec<Located>, Error> {
    let mut kinds = ServedKinds::discover(client).await?;
    let mut leftovers = Vec::new();
    for (group, version, kind) in runs.kinds {
        let Some(resource) = kinds.resource(group, version, kind) else {
            continue;
        };
        for object in applied(client, &resource, runs).await? {
            let located = kinds.locate(&object).await?;
            if !current.iter().any(|object| object.is(&located)) {
                leftovers.push(located);
            }
        }
    }
    Ok(leftovers)
}

/// Returns the objects of a kind with the label of the operator and fields of the manager.
async fn applied(
    client: &kube::Client,
    resource: &ApiResource,
    runs: EarlierRuns<'_>,
) -> Result<Vec<Value>, Error> {
    let api: Api<DynamicObject> = Api::all_with(client.clone(), resource);
    let selector = format!("app.kubernetes.io/name={}", runs.operator);
    let failed = |source| Error::Request {
        action: format!("list {} with the label {selector}", resource.plural),
        source: Box::new(source),
    };
    let list = api
        .list(&ListParams::default().labels(&selector))
        .await
        .map_err(failed)?;
    let mut objects = Vec::new();
    for item in list.items {
        let is_applied = item.metadata.managed_fields.iter().flatten().any(|entry| {
            entry.manager.as_deref() == Some(runs.manager)
                && entry.operation.as_deref() == Some("Apply")
        });
        if !is_applied {
            continue;
        }
        let mut object =
            serde_json::to_value(item).map_err(|source| failed(kube::Error::SerdeError(source)))?;
        // Items of a list have no apiVersion and kind.
        object["apiVersion"] = resource.api_version.clone().into();
        object["kind"] = resource.kind.clone().into();
        objects.push(object);
    }
    Ok(objects)
}
