use std::collections::HashMap;

use kubewright_core::{FieldSelector, LabelSelector, Resource};
use kubewright_wire::protobuf::{Layout, Layouts};
use kubewright_wire::record::FieldTree;

use super::{Content, Protobuf, Streaming, Transform};
use crate::client::Query;
use crate::store::Filter;

/// Which objects are followed: equal specs share one informer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct InformerSpec {
    /// Of which kind.
    pub resource: Resource,
    /// Only in this namespace; none means all.
    pub namespace: Option<String>,
    /// Only with such labels.
    pub labels: LabelSelector,
    /// Only with such fields.
    pub fields: FieldSelector,
    /// How much of each object.
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

    /// The same objects, of which so much is kept.
    ///
    /// ```
    /// use kubewright_core::{Kind, Resource, Scope};
    /// use kubewright_runtime::reflector::{Content, InformerSpec};
    ///
    /// let pods = Resource::new(Kind::new("", "v1", "Pod"), "pods", Scope::Namespaced);
    /// let metadata = InformerSpec::all(pods).keeping(Content::Metadata);
    /// assert_eq!(metadata.content, Content::Metadata);
    /// ```
    #[must_use]
    pub fn keeping(self, content: Content) -> Self {
        Self { content, ..self }
    }

    /// The same, as a store's filter.
    pub fn filter(&self) -> Filter {
        Filter {
            namespace: self.namespace.clone(),
            within: None,
            labels: self.labels.clone(),
            fields: self.fields.clone(),
        }
    }

    /// The forms in which the server may answer a list, or a watch, the best first.
    pub(super) fn accept(&self, asked: Asked, protobuf: &Protobuf) -> &'static str {
        let is_metadata = self.content == Content::Metadata;
        match (
            asked,
            is_metadata,
            protobuf.is_on() && self.layout().is_some(),
        ) {
            (_, false, false) => "application/json",
            (Asked::List, false, true) => "application/vnd.kubernetes.protobuf,application/json",
            (Asked::Watch, false, true) => {
                "application/vnd.kubernetes.protobuf;stream=watch,application/json"
            }
            (Asked::List, true, false) => {
                "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
            }
            (Asked::Watch, true, false) => {
                "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
            }
            (Asked::List, true, true) => {
                "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,\
                 application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
            }
            (Asked::Watch, true, true) => {
                "application/vnd.kubernetes.protobuf;stream=watch;as=PartialObjectMetadata;\
                 g=meta.k8s.io;v=v1,\
                 application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
            }
        }
    }

    /// How the objects are laid out in protobuf; none for custom resources, which come as JSON.
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

    /// The fields that the records keep: also those by which objects are selected.
    pub(super) fn kept(&self) -> FieldTree {
        let selected = self.fields.requirements.iter();
        selected.fold(self.content.kept(), |kept, one| kept.with(&one.path))
    }

    /// How errors and logs name the collection: `pods in shop`.
    pub(crate) fn what(&self) -> String {
        let name = self.resource.qualified_name();
        match &self.namespace {
            Some(namespace) => format!("{name} in {namespace}"),
            None => name,
        }
    }
}

/// What is asked of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    List,
    Watch,
}

/// How a reflector reads.
#[derive(Clone, Debug)]
pub struct ReflectorOptions {
    /// Whose Apply entry of `metadata.managedFields` leaves its hash in the records.
    pub field_manager: Option<String>,
    /// Whether the state is read as the beginning of the watch, where the server does that.
    pub streaming: Streaming,
    /// Whether the objects of Kubernetes' own kinds come in protobuf, where the server does that.
    pub protobuf: Protobuf,
    /// How many objects are asked for at once where the state is listed.
    pub page_size: u32,
    /// How many bytes are read of an object; of a larger one only the metadata is kept.
    pub largest_object: usize,
    /// What is done to each object of a kind before it is stored.
    pub transforms: HashMap<Resource, Transform>,
    /// What is done to each object of all other kinds.
    pub transform: Option<Transform>,
    /// Where jitter comes from; none takes a new one for each reflector.
    pub seed: Option<u64>,
}

impl ReflectorOptions {
    /// What is done to each object of this kind.
    pub(crate) fn transform_of(&self, resource: &Resource) -> Option<&Transform> {
        let own = self.transforms.get(resource);
        own.or(self.transform.as_ref())
    }
}

impl Default for ReflectorOptions {
    fn default() -> Self {
        Self {
            field_manager: None,
            streaming: Streaming::default(),
            protobuf: Protobuf::default(),
            page_size: 500,
            // etcd takes 1.5 MB by default, and 8 MB is the most that is advised.
            largest_object: 16 << 20,
            transforms: HashMap::new(),
            transform: None,
            seed: None,
        }
    }
}
