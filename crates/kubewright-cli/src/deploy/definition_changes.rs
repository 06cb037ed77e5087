use kube::Api;
use kube::api::{ApiResource, DynamicObject, ListParams};
use kubewright_manifest::{Hazard, UnsafeChange, unsafe_changes};
use serde_json::Value;

use super::install::Force;
use super::stored_objects;
use crate::error::Error;
use crate::objects::{Kinds, calls_webhooks};

/// Whether the object defines a kind.
pub(super) fn is_definition(object: &Value) -> bool {
    object["kind"] == "CustomResourceDefinition"
}

/// What becomes of objects in the cluster when definitions change.
#[derive(Debug, Default)]
pub(super) struct Danger {
    /// Changes that no API server takes.
    refused: Vec<String>,
    /// Changes that objects would not survive whole, each followed by those objects.
    breaking: Vec<String>,
    /// Changes that each object was found to survive.
    pub(super) survived: Vec<String>,
}

impl Danger {
    /// Compares the definitions among the objects with those in the cluster, and tries the
    /// cluster's objects on those that change.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub(super) async fn of(client: &kube::Client, objects: &[Value]) -> Result<Self, Error> {
        let mut danger = Self::default();
        let mut kinds = Kinds::discover(client).await?;
        for definition in objects.iter().filter(|one| is_definition(one)) {
            let place = kinds.locate(definition).await?;
            if let Some(live) = place.find(client).await? {
                danger.look(client, &live, definition).await?;
            }
        }
        Ok(danger)
    }

    async fn look(
        &mut self,
        client: &kube::Client,
        live: &Value,
        definition: &Value,
    ) -> Result<(), Error> {
        let name = text(&definition["metadata"]["name"]);
        let mut changes = unsafe_changes(live, definition);
        let refused = changes.extract_if(.., |change| change.hazard == Hazard::Rejected);
        self.refused
            .extend(refused.map(|change| format!("{name}: {change}")));
        if changes.is_empty() || count_instances(client, live).await? == 0 {
            return Ok(());
        }
        let meaning = changes.extract_if(.., |change| change.hazard == Hazard::Meaning);
        self.breaking
            .extend(meaning.map(|change| format!("{name}: {change}")));
        for version in versions_of(&changes) {
            let lines = changes.iter().filter(|one| one.version == version);
            let lines = lines.map(|change| format!("{name}: {change}"));
            let version = version.as_deref().unwrap_or_default();
            match stored_objects::broken(client, live, definition, version).await? {
                Some(broken) if broken.is_empty() => self.survived.extend(lines),
                broken => {
                    self.breaking.extend(lines);
                    self.breaking.extend(broken.into_iter().flatten());
                }
            }
        }
        Ok(())
    }

    /// Why the definitions must not be applied; `--allow-unsafe` leaves what no server takes.
    pub(super) fn refusal(&self, force: &Force) -> Option<Error> {
        if !self.refused.is_empty() {
            let reasons = self.refused.join("\n  ");
            return Some(Error::ImpossibleChange { reasons });
        }
        let is_meant = force.allow_unsafe || self.breaking.is_empty();
        (!is_meant).then(|| Error::UnsafeChange {
            reasons: self.breaking.join("\n  "),
        })
    }
}

/// The versions whose schemas change, each once.
fn versions_of(changes: &[UnsafeChange]) -> Vec<Option<String>> {
    let mut versions: Vec<_> = changes
        .iter()
        .map(|change| change.version.clone())
        .collect();
    versions.dedup();
    versions
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

/// The resource of the first version that is served.
fn resource_of(crd: &Value) -> ApiResource {
    let versions = crd["spec"]["versions"].as_array();
    let served = |version: &&Value| version["served"] == true;
    let version = versions.and_then(|all| all.iter().find(served));
    resource_in(crd, version.map_or("", |version| text(&version["name"])))
}

/// The resource of a version.
pub(super) fn resource_in(crd: &Value, version: &str) -> ApiResource {
    let spec = &crd["spec"];
    let group = text(&spec["group"]);
    ApiResource {
        api_version: format!("{group}/{version}"),
        group: group.to_owned(),
        version: version.to_owned(),
        kind: text(&spec["names"]["kind"]).to_owned(),
        plural: text(&spec["names"]["plural"]).to_owned(),
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
