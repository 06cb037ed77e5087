use kube::Api;
use kube::api::{ApiResource, DynamicObject, ListParams};
use serde_json::Value;

use super::{Kinds, Located};
use crate::error::Error;

/// Group, version and kind.
pub(crate) type KindName = (&'static str, &'static str, &'static str);

/// What earlier runs have applied for an operator.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Former<'f> {
    /// Its name, which the objects have as a label.
    pub(crate) operator: &'f str,
    /// The field manager of those runs.
    pub(crate) manager: &'f str,
    pub(crate) kinds: &'f [KindName],
}

/// Those of the objects that are not among `wanted`, in the order of their kinds.
///
/// # Cancel safety
///
/// Safe: it only reads.
pub(crate) async fn left_over(
    client: &kube::Client,
    former: Former<'_>,
    wanted: &[Located],
) -> Result<Vec<Located>, Error> {
    let mut kinds = Kinds::discover(client).await?;
    let mut found = Vec::new();
    for (group, version, kind) in former.kinds {
        let Some(resource) = kinds.resource(group, version, kind) else {
            continue;
        };
        for object in applied(client, &resource, former).await? {
            let located = kinds.locate(&object).await?;
            if !wanted.iter().any(|one| one.is(&located)) {
                found.push(located);
            }
        }
    }
    Ok(found)
}

/// The objects of a kind that carry the operator's name and fields of the manager.
async fn applied(
    client: &kube::Client,
    resource: &ApiResource,
    former: Former<'_>,
) -> Result<Vec<Value>, Error> {
    let api: Api<DynamicObject> = Api::all_with(client.clone(), resource);
    let selector = format!("app.kubernetes.io/name={}", former.operator);
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
        let ours = item.metadata.managed_fields.iter().flatten().any(|entry| {
            entry.manager.as_deref() == Some(former.manager)
                && entry.operation.as_deref() == Some("Apply")
        });
        let mut object =
            serde_json::to_value(item).map_err(|source| failed(kube::Error::SerdeError(source)))?;
        // Items of a list do not say what they are.
        object["apiVersion"] = resource.api_version.clone().into();
        object["kind"] = resource.kind.clone().into();
        if ours {
            objects.push(object);
        }
    }
    Ok(objects)
}
