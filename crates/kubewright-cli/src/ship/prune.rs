use kube::Api;
use kube::api::{ApiResource, DynamicObject, ListParams};
use serde_json::Value;

use crate::error::Error;
use crate::objects::{FIELD_MANAGER, Kinds, Located};

/// The kinds that an operator's manifests may consist of, but for namespaces and definitions,
/// which take objects of users along.
const KINDS: [(&str, &str, &str); 12] = [
    (
        "admissionregistration.k8s.io",
        "v1",
        "MutatingWebhookConfiguration",
    ),
    (
        "admissionregistration.k8s.io",
        "v1",
        "ValidatingWebhookConfiguration",
    ),
    ("apps", "v1", "Deployment"),
    ("networking.k8s.io", "v1", "NetworkPolicy"),
    ("policy", "v1", "PodDisruptionBudget"),
    ("", "v1", "Service"),
    ("rbac.authorization.k8s.io", "v1", "ClusterRoleBinding"),
    ("rbac.authorization.k8s.io", "v1", "RoleBinding"),
    ("rbac.authorization.k8s.io", "v1", "ClusterRole"),
    ("rbac.authorization.k8s.io", "v1", "Role"),
    ("", "v1", "ServiceAccount"),
    ("", "v1", "Secret"),
];

/// Objects that an earlier run applied for the operator and that are not among `wanted`.
///
/// # Cancel safety
///
/// Safe: it only reads.
pub(super) async fn left_over(
    client: &kube::Client,
    operator: &str,
    wanted: &[Located],
) -> Result<Vec<Located>, Error> {
    let mut kinds = Kinds::discover(client).await?;
    let mut found = Vec::new();
    for (group, version, kind) in KINDS {
        let Some(resource) = kinds.resource(group, version, kind) else {
            continue;
        };
        for object in applied(client, &resource, operator).await? {
            let located = kinds.locate(&object).await?;
            if !wanted.iter().any(|one| one.is(&located)) {
                found.push(located);
            }
        }
    }
    Ok(found)
}

/// The objects of a kind that carry the operator's name and fields of ours.
async fn applied(
    client: &kube::Client,
    resource: &ApiResource,
    operator: &str,
) -> Result<Vec<Value>, Error> {
    let api: Api<DynamicObject> = Api::all_with(client.clone(), resource);
    let selector = format!("app.kubernetes.io/name={operator}");
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
            entry.manager.as_deref() == Some(FIELD_MANAGER)
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
