use std::collections::BTreeSet;
use std::time::Duration;

use http::Request;
use kube::api::{Api, DeleteParams, DynamicObject, ListParams, Patch, PatchParams};
use kube::core::PartialObjectMeta;
use kube::discovery::{ApiCapabilities, ApiResource, Discovery, Scope, verbs};
use kube::{Client, ResourceExt as _};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::Error;

/// What a control plane held when it was new, so that all else can be removed.
#[derive(Clone, Debug)]
pub(super) struct Baseline {
    uids: BTreeSet<String>,
}

/// The cluster-wide kinds that tests make; those that refuse others' writes come first.
const CLUSTER_WIDE: [(&str, &str); 16] = [
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
        "validatingadmissionpolicies",
    ),
    ("", "namespaces"),
    ("apiextensions.k8s.io", "customresourcedefinitions"),
    ("", "nodes"),
    ("", "persistentvolumes"),
    ("rbac.authorization.k8s.io", "clusterrolebindings"),
    ("rbac.authorization.k8s.io", "clusterroles"),
    ("scheduling.k8s.io", "priorityclasses"),
    ("storage.k8s.io", "storageclasses"),
    ("storage.k8s.io", "csidrivers"),
    ("node.k8s.io", "runtimeclasses"),
    ("networking.k8s.io", "ingressclasses"),
    ("certificates.k8s.io", "certificatesigningrequests"),
];

/// Namespaced kinds that come and go by themselves.
const RESTLESS: [&str; 4] = ["events", "leases", "endpoints", "endpointslices"];
const POLL: Duration = Duration::from_millis(50);
const GONE_WITHIN: Duration = Duration::from_secs(60);

type Kinds = Vec<(ApiResource, ApiCapabilities)>;

impl Baseline {
    /// Remembers what is there.
    pub(super) async fn take(client: &Client) -> Result<Self, Error> {
        let mut uids = BTreeSet::new();
        let kinds = kinds(client).await?;
        for (kind, namespace) in swept(&kinds) {
            for object in list(client, kind, namespace).await? {
                uids.extend(object.uid());
            }
        }
        Ok(Self { uids })
    }

    /// Removes all that came since.
    pub(super) async fn restore(&self, client: &Client) -> Result<(), Error> {
        let kinds = kinds(client).await?;
        for (kind, namespace) in swept(&kinds) {
            for object in list(client, kind, namespace).await? {
                if object.uid().is_none_or(|uid| self.uids.contains(&uid)) {
                    continue;
                }
                let name = object.name_any();
                match kind.plural.as_str() {
                    "namespaces" => remove_namespace(client, &kinds, kind, &name).await?,
                    "customresourcedefinitions" => {
                        free_custom_objects(client, &kinds, &name).await?;
                        remove(client, kind, None, &name).await?;
                    }
                    _ => remove(client, kind, namespace, &name).await?,
                }
            }
        }
        Ok(())
    }
}

/// What is looked at: the cluster-wide kinds in their order, then what lives in `default`.
fn swept(kinds: &Kinds) -> impl Iterator<Item = (&ApiResource, Option<&'static str>)> {
    let wide = CLUSTER_WIDE.iter().filter_map(|(group, plural)| {
        let found = kinds
            .iter()
            .find(|(kind, _)| kind.group == *group && kind.plural == *plural);
        found.map(|(kind, _)| (kind, None))
    });
    wide.chain(namespaced(kinds).map(|kind| (kind, Some("default"))))
}

fn namespaced(kinds: &Kinds) -> impl Iterator<Item = &ApiResource> {
    kinds
        .iter()
        .filter(|(kind, can)| {
            can.scope == Scope::Namespaced
                && can.supports_operation(verbs::LIST)
                && can.supports_operation(verbs::DELETE)
                && !RESTLESS.contains(&kind.plural.as_str())
        })
        .map(|(kind, _)| kind)
}

async fn kinds(client: &Client) -> Result<Kinds, Error> {
    let discovery = Discovery::new(client.clone()).run_aggregated().await;
    let discovery = discovery.map_err(failed("ask which kinds are served"))?;
    let groups = discovery.groups();
    Ok(groups
        .flat_map(kube::discovery::ApiGroup::recommended_resources)
        .collect())
}

async fn list(
    client: &Client,
    kind: &ApiResource,
    namespace: Option<&str>,
) -> Result<Vec<PartialObjectMeta<DynamicObject>>, Error> {
    let tried = format!("list {} to clean up", kind.plural);
    match api(client, kind, namespace)
        .list_metadata(&ListParams::default())
        .await
    {
        Ok(found) => Ok(found.items),
        // Its definition went a moment ago.
        Err(error) if is_gone(&error) => Ok(Vec::new()),
        Err(error) => Err(failed(tried)(error)),
    }
}

/// Deletes one object and waits until it is gone, finalizers or not.
async fn remove(
    client: &Client,
    kind: &ApiResource,
    namespace: Option<&str>,
    name: &str,
) -> Result<(), Error> {
    let api = api(client, kind, namespace);
    let at_once = DeleteParams::background().grace_period(0);
    let start = Instant::now();
    loop {
        match api.delete(name, &at_once).await {
            Ok(_) => {}
            Err(error) if is_gone(&error) => return Ok(()),
            Err(error) => return Err(failed(format!("delete {} {name}", kind.plural))(error)),
        }
        match api.get_metadata(name).await {
            Ok(left) if !left.finalizers().is_empty() && kind.plural != CRDS => {
                free(&api, name).await?;
            }
            Err(error) if is_gone(&error) => return Ok(()),
            _ => {}
        }
        wait(start, &format!("{} {name} to go", kind.plural)).await?;
    }
}

const CRDS: &str = "customresourcedefinitions";

/// A namespace goes when all in it is gone and its own finalizer is removed. A controller
/// manager does that after five seconds; where none runs, nobody does.
async fn remove_namespace(
    client: &Client,
    kinds: &Kinds,
    namespaces: &ApiResource,
    name: &str,
) -> Result<(), Error> {
    let api = api(client, namespaces, None);
    let deleted = api.delete(name, &DeleteParams::default()).await;
    deleted
        .map(drop)
        .or_else(|error| if is_gone(&error) { Ok(()) } else { Err(error) })
        .map_err(failed(format!("delete namespace {name}")))?;
    // Terminating by now, so nothing new is made in it.
    for kind in namespaced(kinds) {
        for object in list(client, kind, Some(name)).await? {
            remove(client, kind, Some(name), &object.name_any()).await?;
        }
    }
    let start = Instant::now();
    loop {
        let mut namespace: Value = match api.get(name).await {
            Ok(found) => serde_json::to_value(found).unwrap_or_default(),
            Err(error) if is_gone(&error) => return Ok(()),
            Err(error) => return Err(failed(format!("read namespace {name}"))(error)),
        };
        namespace["spec"]["finalizers"] = json!([]);
        let request = Request::put(format!("/api/v1/namespaces/{name}/finalize"))
            .header("Content-Type", "application/json")
            .body(namespace.to_string().into_bytes())
            .map_err(|source| Error::Client {
                user: name.to_owned(),
                source: source.into(),
            })?;
        match client.request::<Value>(request).await {
            Ok(_) => {}
            // The controller manager was faster; look again.
            Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => {}
            Err(error) => return Err(failed(format!("finalize namespace {name}"))(error)),
        }
        wait(start, &format!("namespace {name} to go")).await?;
    }
}

/// Removes the finalizers of a definition's objects: nobody is left who would.
async fn free_custom_objects(
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
            free(&api, &object.name_any()).await?;
        }
    }
    Ok(())
}

async fn free(api: &Api<DynamicObject>, name: &str) -> Result<(), Error> {
    let nothing = Patch::Merge(json!({ "metadata": { "finalizers": null } }));
    match api
        .patch_metadata(name, &PatchParams::default(), &nothing)
        .await
    {
        Ok(_) => Ok(()),
        Err(error) if is_gone(&error) => Ok(()),
        Err(error) => Err(failed(format!("remove the finalizers of {name}"))(error)),
    }
}

fn api(client: &Client, kind: &ApiResource, namespace: Option<&str>) -> Api<DynamicObject> {
    match namespace {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, kind),
        None => Api::all_with(client.clone(), kind),
    }
}

async fn wait(start: Instant, what: &str) -> Result<(), Error> {
    if start.elapsed() < GONE_WITHIN {
        sleep(POLL).await;
        return Ok(());
    }
    Err(Error::Waited {
        what: what.to_owned(),
        waited: start.elapsed(),
        last: "still there".to_owned(),
    })
}

fn is_gone(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if matches!(status.code, 404 | 405))
}

fn failed(tried: impl Into<String>) -> impl FnOnce(kube::Error) -> Error {
    let tried = tried.into();
    |source| Error::Request {
        tried,
        source: Box::new(source),
    }
}
