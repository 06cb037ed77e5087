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

/// What a control plane held when it was new, so that all else can be removed.
#[derive(Clone, Debug)]
pub(super) struct Baseline {
    uids: BTreeSet<String>,
}

/// The cluster-wide kinds that go before all others: what refuses others' writes, then what takes
/// much with it.
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

/// Kinds whose objects the control plane itself makes and removes.
const RESTLESS: [&str; 8] = [
    "apiservices",
    "endpoints",
    "endpointslices",
    "events",
    "flowschemas",
    "ipaddresses",
    "prioritylevelconfigurations",
    "servicecidrs",
];
const POLL: Duration = Duration::from_millis(50);
const GONE_WITHIN: Duration = Duration::from_secs(60);

type Metadata = PartialObjectMeta<DynamicObject>;
type Kinds = Vec<(ApiResource, ApiCapabilities)>;

impl Baseline {
    /// Remembers what is there.
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

    /// Removes all that came since.
    pub(super) async fn restore(&self, client: &Client) -> Result<(), Error> {
        let kinds = kinds(client).await?;
        for kind in swept(&kinds) {
            for object in list(client, kind, None).await? {
                let is_new = object.uid().is_some_and(|uid| !self.uids.contains(&uid));
                if !is_new || is_made_by_itself(kind, &object) {
                    continue;
                }
                match kind.plural.as_str() {
                    "namespaces" => remove_namespace(client, &kinds, kind, &object).await?,
                    CRDS => {
                        free_custom_objects(client, &kinds, &object.name_any()).await?;
                        remove(client, kind, &object).await?;
                    }
                    _ => remove(client, kind, &object).await?,
                }
            }
        }
        Ok(())
    }
}

/// What is looked at: the cluster-wide kinds, some of them first, then the namespaced ones, of
/// which by then only those in the namespaces of Kubernetes itself are left.
fn swept(kinds: &Kinds) -> impl Iterator<Item = &ApiResource> {
    let is_first = |kind: &ApiResource| {
        let named = |(group, plural): &(&str, &str)| kind.group == *group && kind.plural == *plural;
        FIRST.iter().position(named)
    };
    let is_quiet = |kind: &ApiResource| !RESTLESS.contains(&kind.plural.as_str());
    let mut found: Vec<_> = removable(kinds)
        .filter(|(kind, _)| is_quiet(kind))
        .collect();
    found.sort_by_key(|(kind, scope)| {
        let position = is_first(kind).unwrap_or(FIRST.len());
        (position, **scope == Scope::Namespaced)
    });
    found.into_iter().map(|(kind, _)| kind)
}

fn removable(kinds: &Kinds) -> impl Iterator<Item = (&ApiResource, &Scope)> {
    let can_be = |can: &ApiCapabilities| {
        can.supports_operation(verbs::LIST) && can.supports_operation(verbs::DELETE)
    };
    let kinds = kinds.iter().filter(move |(_, can)| can_be(can));
    kinds.map(|(kind, can)| (kind, &can.scope))
}

/// Whether the control plane makes the object, maybe after the baseline was taken: what each
/// namespace gets, the accounts of the controllers, the leases of leaders and nodes.
fn is_made_by_itself(kind: &ApiResource, object: &Metadata) -> bool {
    let namespace = object.namespace().unwrap_or_default();
    match (kind.plural.as_str(), object.name_any().as_str()) {
        ("configmaps", "kube-root-ca.crt") | ("serviceaccounts", "default") => true,
        ("serviceaccounts", _) => namespace == "kube-system",
        ("leases", _) => matches!(namespace.as_str(), "kube-system" | "kube-node-lease"),
        _ => false,
    }
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
) -> Result<Vec<Metadata>, Error> {
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

/// Deletes one object and waits until it is gone, finalizers or not. Another one of its name may
/// be there by then.
async fn remove(client: &Client, kind: &ApiResource, object: &Metadata) -> Result<(), Error> {
    let name = &object.name_any();
    let api = api(client, kind, object.namespace().as_deref());
    let at_once = DeleteParams::background()
        .grace_period(0)
        .preconditions(exactly(object));
    let start = Instant::now();
    loop {
        match api.delete(name, &at_once).await {
            Ok(_) => {}
            Err(error) if is_gone(&error) || is_another(&error) => return Ok(()),
            Err(error) => return Err(failed(format!("delete {} {name}", kind.plural))(error)),
        }
        match api.get_metadata(name).await {
            Ok(left) if left.uid() != object.uid() => return Ok(()),
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
    object: &Metadata,
) -> Result<(), Error> {
    let name = &object.name_any();
    let api = api(client, namespaces, None);
    let exactly = DeleteParams::default().preconditions(exactly(object));
    let deleted = api.delete(name, &exactly).await;
    deleted
        .map(drop)
        .or_else(|error| if is_gone(&error) { Ok(()) } else { Err(error) })
        .map_err(failed(format!("delete namespace {name}")))?;
    // Terminating by now, so nothing new is made in it.
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

fn exactly(object: &Metadata) -> Preconditions {
    Preconditions {
        uid: object.uid(),
        resource_version: None,
    }
}

/// Whether the object of that name is not the one that was meant.
fn is_another(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 409 && status.message.contains("UID"))
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
