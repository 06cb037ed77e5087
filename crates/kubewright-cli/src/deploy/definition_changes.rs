//! Changes of definitions that a cluster or its objects would not survive.

use kubewright_manifest::{Hazard, UnsafeChange, unsafe_changes};
use serde_json::Value;

use super::arguments::Force;
use super::definition::{count_instances, is_definition};
use super::stored_objects::broken_objects;
use crate::error::Error;
use crate::objects::{ServedKinds, text};

/// The unsafe changes of definitions, one line each.
#[derive(Debug, Default)]
pub(super) struct DefinitionChanges {
    /// Changes that every API server rejects.
    rejected: Vec<String>,
    /// Changes that break objects, each followed by these objects.
    breaking: Vec<String>,
    /// Changes that are unsafe in general, but break none of the objects in the cluster.
    pub(super) harmless: Vec<String>,
}

impl DefinitionChanges {
    /// Compares the definitions among the objects with those in the cluster, and validates the
    /// objects in the cluster against the definitions that change.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub(super) async fn find(client: &kube::Client, objects: &[Value]) -> Result<Self, Error> {
        let mut changes = Self::default();
        let mut kinds = ServedKinds::discover(client).await?;
        for definition in objects.iter().filter(|object| is_definition(object)) {
            let located = kinds.locate(definition).await?;
            if let Some(live) = located.find(client).await? {
                changes.compare(client, &live, definition).await?;
            }
        }
        Ok(changes)
    }

    async fn compare(
        &mut self,
        client: &kube::Client,
        live: &Value,
        definition: &Value,
    ) -> Result<(), Error> {
        let name = text(&definition["metadata"]["name"]);
        let line = |change: &UnsafeChange| format!("{name}: {change}");
        let mut changes = unsafe_changes(live, definition);
        let rejected = changes.extract_if(.., |change| change.hazard == Hazard::Rejected);
        self.rejected.extend(rejected.map(|change| line(&change)));
        if changes.is_empty() || count_instances(client, live).await? == 0 {
            return Ok(());
        }
        let meaning = changes.extract_if(.., |change| change.hazard == Hazard::Meaning);
        self.breaking.extend(meaning.map(|change| line(&change)));
        for version in versions_of(&changes) {
            let lines = changes
                .iter()
                .filter(|change| change.version == version)
                .map(line);
            let version = version.as_deref().unwrap_or_default();
            match broken_objects(client, live, definition, version).await? {
                Some(broken) if broken.is_empty() => self.harmless.extend(lines),
                broken => {
                    self.breaking.extend(lines);
                    self.breaking.extend(broken.into_iter().flatten());
                }
            }
        }
        Ok(())
    }

    /// Returns the error when the definitions must not be applied. `--allow-unsafe` allows breaking
    /// changes, but not those that every server rejects.
    pub(super) fn error(&self, force: &Force) -> Option<Error> {
        if !self.rejected.is_empty() {
            let reasons = self.rejected.join("\n  ");
            return Some(Error::RejectedChange { reasons });
        }
        let is_allowed = force.allow_unsafe || self.breaking.is_empty();
        (!is_allowed).then(|| Error::UnsafeChange {
            reasons: self.breaking.join("\n  "),
        })
    }
}

/// Returns the versions whose schemas change, each once.
fn versions_of(changes: &[UnsafeChange]) -> Vec<Option<String>> {
    let mut versions: Vec<_> = changes
        .iter()
        .map(|change| change.version.clone())
        .collect();
    versions.dedup();
    versions
}
