//! Finds resources by route, kind or name.

use std::sync::Arc;

use kubewright_core::Kind;
use kubewright_kinds::apiextensions::CUSTOM_RESOURCE_DEFINITION;
use kubewright_wire::route::ResourceRoute;
use kubewright_wire::status::Status;

use super::builtin::builtins;
use super::definition::Definition;
use super::served::ServedResource;
use crate::store::{Key, Object, ParsedCache, Snapshot};

/// Finds the resources of a store. It caches only compiled definitions: the stored objects decide
/// what is served.
#[derive(Debug, Default)]
pub(crate) struct Catalog {
    compiled: ParsedCache<Definition>,
}

impl Catalog {
    /// The resource of a route; `None` where the response is a plain text `404 page not found`.
    pub(crate) fn find(
        &self,
        snapshot: &Snapshot,
        route: &ResourceRoute,
    ) -> Result<Option<Arc<ServedResource>>, Status> {
        let builtins = builtins();
        if let Some(served) = builtins.find(&route.group, &route.version, &route.plural) {
            return Ok(Some(Arc::clone(served)));
        }
        let name = format!("{}.{}", route.plural, route.group);
        if let Some(definition) = self.named(snapshot, &name) {
            return Ok(definition.version(&route.version));
        }
        if builtins.has_group(&route.group) {
            return Err(Status::unknown_resource());
        }
        Ok(None)
    }

    /// Every custom resource that is served, in the order of the definitions' names.
    pub(crate) fn customs(&self, snapshot: &Snapshot) -> Vec<Arc<Definition>> {
        snapshot
            .list(CUSTOM_RESOURCE_DEFINITION.resource_id(), None)
            .map(|object| self.definition(object))
            .filter(|definition| definition.is_served())
            .collect()
    }

    /// Every resource that is served, each in every version.
    pub(crate) fn all(&self, snapshot: &Snapshot) -> Vec<Arc<ServedResource>> {
        let customs = self.customs(snapshot);
        let custom = customs
            .iter()
            .flat_map(|definition| definition.versions().iter().cloned());
        builtins().all().iter().cloned().chain(custom).collect()
    }

    /// Every version of a resource (`deployments.apps`) that is served.
    pub(crate) fn versions(&self, snapshot: &Snapshot, id: &str) -> Vec<Arc<ServedResource>> {
        // Events of both groups are stored as one resource, and served as two.
        let has_name = |served: &&Arc<ServedResource>| served.resource.qualified_name() == id;
        let builtin = builtins().all().iter().filter(has_name);
        let definition = self.named(snapshot, id);
        let custom = definition
            .iter()
            .flat_map(|definition| definition.versions());
        builtin.chain(custom).cloned().collect()
    }

    /// The resource of a kind whose objects are stored.
    pub(crate) fn stored_as(
        &self,
        snapshot: &Snapshot,
        kind: &Kind,
    ) -> Option<Arc<ServedResource>> {
        let is_of_kind = |served: &ServedResource| served.kind() == kind && served.is_stored();
        let builtin = builtins().all().iter().find(|served| is_of_kind(served));
        if let Some(builtin) = builtin {
            return Some(Arc::clone(builtin));
        }
        let customs = self.customs(snapshot);
        let mut versions = customs.iter().flat_map(|definition| definition.versions());
        versions.find(|served| is_of_kind(served)).cloned()
    }

    /// The definition of that name, if it is served.
    fn named(&self, snapshot: &Snapshot, name: &str) -> Option<Arc<Definition>> {
        let key = Key::new(CUSTOM_RESOURCE_DEFINITION.resource_id(), None, name);
        let definition = self.definition(snapshot.get(&key)?);
        definition.is_served().then_some(definition)
    }

    fn definition(&self, object: &Arc<Object>) -> Arc<Definition> {
        let compile = |object: &Object| Definition::compile(object.value(), object.revision());
        self.compiled.get(object, compile)
    }
}
