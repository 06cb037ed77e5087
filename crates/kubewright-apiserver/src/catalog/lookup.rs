use std::sync::Arc;

use kubewright_core::Kind;
use kubewright_wire::route::ResourceRoute;
use kubewright_wire::status::Status;

use super::{Served, builtins};
use crate::crd::{DEFINITIONS, Definition};
use crate::store::{Key, Object, ReadOnce, Snapshot};

/// Finds what a route names. What is served follows from the store; here is only kept what was
/// computed from it.
#[derive(Debug, Default)]
pub(crate) struct Catalog {
    compiled: ReadOnce<Definition>,
}

impl Catalog {
    /// The resource that a route names; `None` where a real server answers in plain text that
    /// there is no such page.
    pub(crate) fn find(
        &self,
        snapshot: &Snapshot,
        route: &ResourceRoute,
    ) -> Result<Option<Arc<Served>>, Status> {
        let builtins = builtins();
        if let Some(served) = builtins.find(&route.group, &route.version, &route.plural) {
            return Ok(Some(Arc::clone(served)));
        }
        let name = format!("{}.{}", route.plural, route.group);
        let definition = snapshot
            .get(&Key::new(DEFINITIONS, None, &name))
            .map(|object| self.definition(object))
            .filter(|definition| definition.is_served());
        if let Some(definition) = definition {
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
            .list(DEFINITIONS, None)
            .map(|object| self.definition(object))
            .filter(|definition| definition.is_served())
            .collect()
    }

    /// Every resource that is served, each in every version.
    pub(crate) fn all(&self, snapshot: &Snapshot) -> Vec<Arc<Served>> {
        let customs = self.customs(snapshot);
        let custom = customs
            .iter()
            .flat_map(|one| one.versions().iter().cloned());
        builtins().all().iter().cloned().chain(custom).collect()
    }

    /// Every version of a resource (`deployments.apps`) that is served.
    pub(crate) fn versions(&self, snapshot: &Snapshot, id: &str) -> Vec<Arc<Served>> {
        // Events of the two groups are stored as one, but are resources of their own.
        let is_meant = |served: &&Arc<Served>| served.resource.qualified_name() == id;
        let builtin = builtins().all().iter().filter(is_meant);
        let definition = snapshot
            .get(&Key::new(DEFINITIONS, None, id))
            .map(|object| self.definition(object))
            .filter(|definition| definition.is_served());
        let custom = definition.iter().flat_map(|one| one.versions());
        builtin.chain(custom).cloned().collect()
    }

    /// The resource whose objects are stored and are of this kind.
    pub(crate) fn stored_as(&self, snapshot: &Snapshot, kind: &Kind) -> Option<Arc<Served>> {
        let is_meant = |served: &Served| served.kind() == kind && served.is_stored();
        let builtin = builtins().all().iter().find(|served| is_meant(served));
        if let Some(builtin) = builtin {
            return Some(Arc::clone(builtin));
        }
        let customs = self.customs(snapshot);
        let mut versions = customs.iter().flat_map(|one| one.versions());
        versions.find(|served| is_meant(served)).cloned()
    }

    fn definition(&self, object: &Arc<Object>) -> Arc<Definition> {
        let compile = |object: &Object| Definition::compile(object.value(), object.revision());
        self.compiled.get(object, compile)
    }
}
