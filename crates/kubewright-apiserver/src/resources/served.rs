//! One resource in one version, as the server offers it.

use std::sync::Arc;

use kubewright_core::{Kind, Resource, Scope};
use kubewright_kinds::BuiltinKind;

use super::custom_version::CustomVersion;

/// One resource in one version.
#[derive(Clone, Debug)]
pub(crate) struct ServedResource {
    /// Kind, plural name and scope.
    pub(crate) resource: Resource,
    /// The name of one object on a command line: `pod`.
    pub(crate) singular: String,
    /// The kind of its lists.
    pub(crate) list_kind: String,
    pub(crate) short_names: Vec<String>,
    pub(crate) categories: Vec<String>,
    /// The verbs that it supports, as in roles.
    pub(crate) verbs: Vec<String>,
    pub(crate) subresources: Vec<Subresource>,
    pub(crate) storage_version_hash: String,
    /// The name of the resource in the store, which all its versions share.
    pub(crate) id: Arc<str>,
    /// What the server does with its objects.
    pub(crate) strategy: &'static BuiltinKind,
    pub(crate) origin: Origin,
}

/// A subresource, such as `status`.
#[derive(Clone, Debug)]
pub(crate) struct Subresource {
    pub(crate) name: String,
    /// The kind that is read and written.
    pub(crate) kind: Kind,
    pub(crate) verbs: Vec<String>,
}

/// Where a resource comes from.
#[derive(Clone, Debug)]
pub(crate) enum Origin {
    /// Kubernetes has it.
    Builtin,
    /// A CustomResourceDefinition declares it.
    Custom(Arc<CustomVersion>),
}

impl ServedResource {
    pub(crate) fn kind(&self) -> &Kind {
        &self.resource.kind
    }

    pub(crate) fn is_namespaced(&self) -> bool {
        self.resource.scope == Scope::Namespaced
    }

    pub(crate) fn has_verb(&self, verb: &str) -> bool {
        self.verbs.iter().any(|offered| offered == verb)
    }

    pub(crate) fn subresource(&self, name: &str) -> Option<&Subresource> {
        self.subresources
            .iter()
            .find(|subresource| subresource.name == name)
    }

    /// Whether its objects are stored. Reviews are only created.
    pub(crate) fn is_stored(&self) -> bool {
        !self.storage_version_hash.is_empty()
    }

    /// Whether the status is a subresource.
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

    /// Whether this is that built-in kind, in whatever version.
    pub(crate) fn is(&self, kind: &BuiltinKind) -> bool {
        self.strategy == kind
    }

    /// The kind that its objects are stored as.
    pub(crate) fn stored_kind(&self) -> Kind {
        match self.strategy.stored_as {
            Some(stored) => stored.kind.in_version(stored.version),
            None => self.kind().clone(),
        }
    }
}
