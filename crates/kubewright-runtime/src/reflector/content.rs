use kubewright_wire::record::FieldTree;
use serde::de::DeserializeOwned;

/// What every record has, whatever else is left out: what the store, the owners' index, selectors
/// and the usual predicates look at.
const ALWAYS: [&str; 10] = [
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "metadata.resourceVersion",
    "metadata.generation",
    "metadata.creationTimestamp",
    "metadata.deletionTimestamp",
    "metadata.labels",
    "metadata.ownerReferences",
    "metadata.finalizers",
];

/// How much of each object is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Content {
    /// Everything but `metadata.managedFields`.
    #[default]
    Whole,
    /// `metadata` alone; the server is asked for no more where it can leave the rest out.
    Metadata,
    /// These fields, and of `metadata` all but the annotations.
    Fields(FieldTree),
}

impl Content {
    /// One word for it, for metrics: `whole`, `metadata` or `fields`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Metadata => "metadata",
            Self::Fields(_) => "fields",
        }
    }

    /// As much as a type reads when it is decoded: the metadata, or the fields of a struct of the
    /// user's own.
    ///
    /// ```
    /// use kubewright_runtime::cache::Metadata;
    /// use kubewright_runtime::reflector::Content;
    /// use serde::Deserialize;
    ///
    /// # use k8s_openapi::api::core::v1::Pod;
    /// #[derive(Deserialize)]
    /// struct Phase {
    ///     phase: Option<String>,
    /// }
    /// #[derive(Deserialize)]
    /// struct PodPhase {
    ///     status: Phase,
    /// }
    /// assert!(matches!(Content::of::<PodPhase>(), Content::Fields(_)));
    /// assert_eq!(Content::of::<Metadata<Pod>>(), Content::Metadata);
    /// assert_eq!(Content::of::<serde_json::Value>(), Content::Whole);
    /// ```
    pub fn of<T: DeserializeOwned>() -> Self {
        let tree = FieldTree::of::<T>();
        if tree.is_whole() {
            return Self::Whole;
        }
        let is_metadata = tree.names().all(is_common);
        match is_metadata {
            true => Self::Metadata,
            false => Self::Fields(tree),
        }
    }

    /// For a type that stands for a kind: its objects whole, but for a type that has nothing beside
    /// the metadata.
    ///
    /// ```
    /// use kubewright_runtime::cache::Metadata;
    /// use kubewright_runtime::reflector::Content;
    /// # use k8s_openapi::api::core::v1::Pod;
    ///
    /// assert_eq!(Content::of_kind::<Pod>(), Content::Whole);
    /// assert_eq!(Content::of_kind::<Metadata<Pod>>(), Content::Metadata);
    /// ```
    pub fn of_kind<K: DeserializeOwned>() -> Self {
        match FieldTree::names_of::<K>() {
            Some(names) if names.iter().copied().all(is_common) => Self::Metadata,
            _ => Self::Whole,
        }
    }

    /// The fields that the records keep.
    pub(super) fn kept(&self) -> FieldTree {
        match self {
            Self::Whole => FieldTree::Whole,
            Self::Metadata => FieldTree::none().with("metadata"),
            Self::Fields(tree) => ALWAYS
                .iter()
                .fold(tree.clone(), |tree, path| tree.with(path)),
        }
    }
}

/// Whether the field stands in every object and in what is left of it.
fn is_common(name: &str) -> bool {
    ["apiVersion", "kind", "metadata"].contains(&name)
}
