//! Which objects an informer reads, and how much of each.

use kubewright_core::{FieldSelector, LabelSelector, Resource};
use kubewright_wire::protobuf::{Layout, Layouts};
use kubewright_wire::record::FieldTree;

use super::content::Content;
use crate::client::Query;
use crate::store::Filter;

/// The objects that an informer lists and watches. Equal specs share one informer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct InformerSpec {
    /// The kind.
    pub resource: Resource,
    /// Only this namespace; none means all.
    pub namespace: Option<String>,
    /// Only objects whose labels match.
    pub labels: LabelSelector,
    /// Only objects whose fields match.
    pub fields: FieldSelector,
    /// How much of each object is stored.
    pub content: Content,
}

impl InformerSpec {
    /// All objects of a kind.
    pub fn all(resource: Resource) -> Self {
        Self {
            resource,
            namespace: None,
            labels: LabelSelector::default(),
            fields: FieldSelector::default(),
            content: Content::default(),
        }
    }

    /// Sets how much of each object is stored.
    ///
    /// ```
    /// use kubewright_core::{Kind, Resource, Scope};
    /// use kubewright_runtime::reflector::{Content, InformerSpec};
    ///
    /// let pods = Resource::new(Kind::new("", "v1", "Pod"), "pods", Scope::Namespaced);
    /// let metadata = InformerSpec::all(pods).with_content(Content::Metadata);
    /// assert_eq!(metadata.content, Content::Metadata);
    /// ```
    #[must_use]
    pub fn with_content(self, content: Content) -> Self {
        Self { content, ..self }
    }

    /// The filter of a store for these objects.
    pub fn filter(&self) -> Filter {
        Filter {
            namespace: self.namespace.clone(),
            within: None,
            labels: self.labels.clone(),
            fields: self.fields.clone(),
        }
    }

    /// The protobuf layout of the objects; none for custom resources, which are served as JSON.
    pub(super) fn layout(&self) -> Option<Layout> {
        let whole = Layouts::builtin().of_kind(&self.resource.kind)?;
        match self.content {
            Content::Metadata => Layouts::builtin().of_metadata(),
            _ => Some(whole),
        }
    }

    /// The path of the collection with the given query and the selectors.
    pub(super) fn path(&self, query: Query) -> String {
        let query = query
            .with("labelSelector", &self.labels)
            .with("fieldSelector", &self.fields);
        format!("{}{query}", self.resource.path(self.namespace.as_deref()))
    }

    /// The fields that the records keep, those of the field selector included.
    pub(super) fn stored_fields(&self) -> FieldTree {
        let requirements = self.fields.requirements.iter();
        requirements.fold(self.content.stored_fields(), |fields, requirement| {
            fields.with(&requirement.path)
        })
    }

    /// The name of the collection in errors and logs: `pods in shop`.
    pub(crate) fn what(&self) -> String {
        let name = self.resource.qualified_name();
        match &self.namespace {
            Some(namespace) => format!("{name} in {namespace}"),
            None => name,
        }
    }
}
