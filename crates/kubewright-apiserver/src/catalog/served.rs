use std::sync::Arc;

use kubewright_core::{Kind, Resource, Scope};

use crate::crd::CustomVersion;

/// One resource in one version, as the server offers it.
#[derive(Clone, Debug)]
pub(crate) struct Served {
    /// Kind, plural name and scope.
    pub(crate) resource: Resource,
    /// The name of one object in the words of a command line.
    pub(crate) singular: String,
    /// The kind of its lists.
    pub(crate) list_kind: String,
    pub(crate) short_names: Vec<String>,
    pub(crate) categories: Vec<String>,
    /// What can be done with it, as roles spell it.
    pub(crate) verbs: Vec<String>,
    pub(crate) subresources: Vec<Subresource>,
    pub(crate) storage_version_hash: String,
    /// How the store names it: all versions of a resource share one.
    pub(crate) id: Arc<str>,
    pub(crate) origin: Origin,
}

/// A part of an object with an address of its own.
#[derive(Clone, Debug)]
pub(crate) struct Subresource {
    pub(crate) name: String,
    /// What is read and written there.
    pub(crate) kind: Kind,
    pub(crate) verbs: Vec<String>,
}

/// Where a resource comes from.
#[derive(Clone, Debug)]
pub(crate) enum Origin {
    /// It is a part of Kubernetes.
    Builtin,
    /// A CustomResourceDefinition made it.
    Custom(Arc<CustomVersion>),
}

impl Served {
    pub(crate) fn kind(&self) -> &Kind {
        &self.resource.kind
    }

    pub(crate) fn is_namespaced(&self) -> bool {
        self.resource.scope == Scope::Namespaced
    }

    pub(crate) fn has_verb(&self, verb: &str) -> bool {
        self.verbs.iter().any(|one| one == verb)
    }

    pub(crate) fn subresource(&self, name: &str) -> Option<&Subresource> {
        self.subresources.iter().find(|one| one.name == name)
    }

    /// Whether its objects are kept; the others, such as reviews, are only answered.
    pub(crate) fn is_stored(&self) -> bool {
        !self.storage_version_hash.is_empty()
    }

    /// Whether the status is written apart from the rest.
    pub(crate) fn has_status(&self) -> bool {
        self.subresource("status").is_some()
    }

    /// The definition behind a custom resource.
    pub(crate) fn custom(&self) -> Option<&CustomVersion> {
        match &self.origin {
            Origin::Custom(version) => Some(version),
            Origin::Builtin => None,
        }
    }

    /// Whether the server's own table knows the kind `name` of the group `group`.
    pub(crate) fn is(&self, group: &str, name: &str) -> bool {
        matches!(self.origin, Origin::Builtin)
            && self.kind().group() == group
            && self.kind().kind == name
    }
}
