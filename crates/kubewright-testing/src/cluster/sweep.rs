//! Removes the objects of a test from a pooled control plane.

use std::collections::BTreeSet;
use std::time::Duration;

use http::Request;
use kube::api::{Api, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, Preconditions};
use kube::core::PartialObjectMeta;
use kube::discovery::{ApiCapabilities, ApiResource, Discovery, Scope, verbs};
use kube::{Client, ResourceExt as _};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::Error;

/// The objects of a new control plane. All other objects are removed after a test.
#[derive(Clone, Debug)]
pub(super) struct Baseline {
    uids: BTreeSet<String>,
}

/// The cluster-scoped kinds that are removed before all others: those that can deny writes, then
/// those whose removal removes other objects.
const FIRST: [(&str, &str); 9] = [
    (
        "admissionregistration.k8s.io",
        "validatingwebhookconfigurations",
    ),
    (
        "admissionregistration.k8s.io",
        "mutatingwebhookconfigurations",
    ),
    (
        "admissionregistration.k8s.io",
        "validatingadmissionpolicybindings",
    ),
    (
        "admissionregistration.k8s.io",
        "mutatingadmissionpolicybindings",
    ),
    (
        "admissionregistration.k8s.io",
        "validatingadmissionpolicies",
    ),
    ("admissionregistration.k8s.io", "mutatingadmissionpolicies"),
    ("", "namespaces"),
    ("apiextensions.k8s.io", "customresourcedefinitions"),
    ("", "nodes"),
];

/// Kinds whose objects the control plane itself creates and deletes.
const SELF_MANAGED: [&str; 8] = [
    "apiservices",
    "endpoints",
    "endpointslices",
    "events",
    "flowschemas",
    "ipaddresses",
    "prioritylevelconfigurations",
    "servicecidrs",
];
const POLL_INTERVAL: Duration = Duration::from_millis(50);
const DELETE_TIMEOUT: Duration = Duration::from_secs(60);

type Metadata = PartialObjectMeta<DynamicObject>;
type Kinds = Vec<(ApiResource, ApiCapabilities)>;

impl Baseline {
    /// Records the present objects.
    pub(super) async fn take(client: &Client) -> Result<Self, Error> {
        let mut uids = BTreeSet::new();
        let kinds = kinds(client).await?;
        for kind in swept(&kinds) {
            for object in list(client, kind, None).await? {
                uids.extend(object.uid());
            }
        }
        Ok(Self { uids })
    }

    /// Removes all objects that were created since.
    pub(super) async fn restore(&self, client: &Client) -> Result<(), Error> {
        let kinds = kinds(client).await?;
        for kind in swept(&kinds) {
            for object in list(client, kind, None).await? {
                let is_new = object.uid().is_some_and(|uid| !self.uids.contains(&uid));
                if !is_new || is_created_by_control_plane(kind, &object) {
                    continue;
                }
                match kind.plural.as_str() {
                    "namespaces" => remove_namespace(client, &kinds, kind, &object).await?,
                    CRDS => {
                        remove_finalizers_of_kind(client, &kinds, &object.name_any()).await?;
                        remove(client, kind, &object).await?;
                    }
                    _ => remove(client, kind, &object).await?,
                }
            }
        }
        Ok(())
    }
}

/// The kinds in the order of removal: the cluster-scoped ones, those of `FIRST` before others, then
/// the namespaced ones, of which only objects in the namespaces of Kubernetes are left by then.
fn swept(kinds: &Kinds) -> impl Iterator<Item = &ApiResource> {
    let position = |kind: &ApiResource| {
        let mut first = FIRST.iter();
        first.position(|(group, plural)| kind.group == *group && kind.plural == *plural)
    };
    let is_self_managed = |kind: &ApiResource| SELF_MANAGED.contains(&kind.plural.as_str());
    let mut found: Vec<_> = removable(kinds)
        .filter(|(kind, _)| !is_self_managed(kind))
        .collect();
    found.sort_by_key(|(kind, scope)| {
        let position = position(kind).unwrap_or(FIRST.len());
        (position, **scope == Scope::Namespaced)
    });
    found.into_iter().map(|(kind, _)| kind)
}

/// The kinds that can be listed and deleted.
fn removable(kinds: &Kinds) -> impl Iterator<Item = (&ApiResource, &Scope)> {
    kinds
        .iter()
        .filter(|(_, capabilities)| {
            capabilities.supports_operation(verbs::LIST)
                && capabilities.supports_operation(verbs::DELETE)
        })
        .map(|(kind, capabilities)| (kind, &capabilities.scope))
}

/// Whether the control plane creates the object, maybe after the baseline was taken: the objects of
/// each namespace, the accounts of the controllers, the leases of leaders and nodes.
fn is_created_by_control_plane(kind: &ApiResource, object: &Metadata) -> bool {
    let namespace = object.namespace().unwrap_or_default();
    match (kind.plural.as_str(), object.name_any().as_str()) {
        ("configmaps", "kube-root-ca.crt") | ("serviceaccounts", "default") => true,
        ("serviceaccounts", _) => namespace == "kube-system",
        ("leases", _) => matches!(namespace.as_str(), "kube-system" | "kube-node-lease"),
        _ => false,
    }
}

async fn kinds(client: &Client) -> Result<Kinds, Error> {
    let discovery = Discovery::new(client.clone())
        .run_aggregated()
        .await
        .map_err(Error::request("discover the kinds"))?;
    let groups = discovery.groups();
    Ok(groups
        .flat_map(kube::discovery::ApiGroup::recommended_resources)
        .collect())
}

async fn list(
    client: &Client,
    kind: &ApiResource,
    namespace: Option<&str>,
) -> Result<Vec<Metadata>, Error> {
    match api(client, kind, namespace)
        .list_metadata(&ListParams::default())
        .await
    {
        Ok(found) => Ok(found.items),
        // The definition of the kind was just deleted.
        Err(error) if is_gone(&error) => Ok(Vec::new()),
        Err(error) => {
            let operation = format!("list {} to clean up", kind.plural);
            Err(Error::request(operation)(error))
        }
    }
}

/// Deletes an object, removes its finalizers and waits until it is gone. Another object with the
/// same name may exist by then.
async fn remove(client: &Client, kind: &ApiResource, object: &Metadata) -> Result<(), Error> {
    let name = &object.name_any();
    let api = api(client, kind, object.namespace().as_deref());
    let params = DeleteParams::background()
        .grace_period(0)
        .preconditions(same_uid(object));
    let start = Instant::now();
    loop {
        match api.delete(name, &params).await {
            Ok(_) => {}
            Err(error) if is_gone(&error) || has_other_uid(&error) => return Ok(()),
            Err(error) => {
                let operation = format!("delete {} {name}", kind.plural);
                return Err(Error::request(operation)(error));
            }
        }
        match api.get_metadata(name).await {
            Ok(left) if left.uid() != object.uid() => return Ok(()),
            Ok(left) if !left.finalizers().is_empty() && kind.plural != CRDS => {
                remove_finalizers(&api, name).await?;
            }
            Err(error) if is_gone(&error) => return Ok(()),
            _ => {}
        }
        wait(start, &format!("{} {name} to be gone", kind.plural)).await?;
    }
}

const CRDS: &str = "customresourcedefinitions";

/// Deletes a namespace, all objects in it, and then its finalizer. The controller manager would
/// need five seconds for that, if it runs at all.
async fn remove_namespace(
    client: &Client,
    kinds: &Kinds,
    namespaces: &ApiResource,
    object: &Metadata,
) -> Result<(), Error> {
    let name = &object.name_any();
    let api = api(client, namespaces, None);
    let params = DeleteParams::default().preconditions(same_uid(object));
    match api.delete(name, &params).await {
        Ok(_) => {}
        Err(error) if is_gone(&error) => {}
        Err(error) => return Err(Error::request(format!("delete namespace {name}"))(error)),
    }
    // It is terminating now, so that no new objects can be created in it.
    let namespaced = removable(kinds).filter(|(_, scope)| **scope == Scope::Namespaced);
    for (kind, _) in namespaced {
        for object in list(client, kind, Some(name)).await? {
            remove(client, kind, &object).await?;
        }
    }
    let start = Instant::now();
    loop {
        let mut namespace: Value = match api.get(name).await {
            Ok(found) => serde_json::to_value(found).unwrap_or_default(),
            Err(error) if is_gone(&error) => return Ok(()),
            Err(error) => return Err(Error::request(format!("read namespace {name}"))(error)),
        };
        namespace["spec"]["finalizers"] = json!([]);
        let request = Request::put(format!("/api/v1/namespaces/{name}/finalize"))
            .header("Content-Type", "application/json")
            .body(namespace.to_string().into_bytes())
            .map_err(Error::client(name))?;
        match client.request::<Value>(request).await {
            Ok(_) => {}
            // The controller manager was faster; read it again.
            Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => {}
            Err(error) => {
                return Err(Error::request(format!("finalize namespace {name}"))(error));
            }
        }
        wait(start, &format!("namespace {name} to be gone")).await?;
    }
}

/// Removes the finalizers of a definition's objects: the operator that would do so has ended.
async fn remove_finalizers_of_kind(
    client: &Client,
    kinds: &Kinds,
    definition: &str,
) -> Result<(), Error> {
    let named = |kind: &ApiResource| format!("{}.{}", kind.plural, kind.group) == definition;
    let Some((kind, _)) = kinds.iter().find(|(kind, _)| named(kind)) else {
        return Ok(());
    };
    for object in list(client, kind, None).await? {
        let namespace = object.namespace();
        let api = api(client, kind, namespace.as_deref());
        if !object.finalizers().is_empty() {
            remove_finalizers(&api, &object.name_any()).await?;
        }
    }
    Ok(())
}

async fn remove_finalizers(api: &Api<DynamicObject>, name: &str) -> Result<(), Error> {
    let patch = Patch::Merge(json!({ "metadata": { "finalizers": null } }));
    match api
        .patch_metadata(name, &PatchParams::default(), &patch)
        .await
    {
        Ok(_) => Ok(()),
        Err(error) if is_gone(&error) => Ok(()),
        Err(error) => {
            let operation = format!("remove the finalizers of {name}");
            Err(Error::request(operation)(error))
        }
    }
}

fn api(client: &Client, kind: &ApiResource, namespace: Option<&str>) -> Api<DynamicObject> {
    match namespace {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, kind),
        None => Api::all_with(client.clone(), kind),
    }
}

async fn wait(start: Instant, condition: &str) -> Result<(), Error> {
    if start.elapsed() < DELETE_TIMEOUT {
        sleep(POLL_INTERVAL).await;
        return Ok(());
    }
    Err(Error::Timeout {
        condition: condition.to_owned(),
        elapsed: start.elapsed(),
        last: "still there".to_owned(),
    })
}

/// The precondition that the object was not replaced by another one with the same name.
fn same_uid(object: &Metadata) -> Preconditions {
    Preconditions {
        uid: object.uid(),
        resource_version: None,
    }
}

/// Whether the precondition failed: another object has the name now.
fn has_other_uid(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 409 && status.message.contains("UID"))
}

fn is_gone(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if matches!(status.code, 404 | 405))
}
