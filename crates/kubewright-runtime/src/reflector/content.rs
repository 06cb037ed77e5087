//! How much of each object an informer stores.

use kubewright_wire::record::FieldTree;
use serde::de::DeserializeOwned;

/// The fields that every record has: those that the store, the index of owners, selectors and the
/// usual predicates read.
const COMMON_FIELDS: [&str; 10] = [
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

/// How much of each object an informer stores.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Content {
    /// All fields except `metadata.managedFields`.
    #[default]
    Whole,
    /// Only `metadata`. The request accepts `PartialObjectMetadata` alone.
    Metadata,
    /// These fields, and `metadata` without the annotations.
    Fields(FieldTree),
}

impl Content {
    /// The name in metrics: `whole`, `metadata` or `fields`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Metadata => "metadata",
            Self::Fields(_) => "fields",
        }
    }

    /// The fields that a type reads when it is decoded: the metadata, or the fields of a user's
    /// struct.
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
        if is_metadata {
            Self::Metadata
        } else {
            Self::Fields(tree)
        }
    }

    /// The content for a type that represents a kind: the whole objects, or only the metadata for a
    /// type without other fields.
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
    pub(super) fn stored_fields(&self) -> FieldTree {
        match self {
            Self::Whole => FieldTree::Whole,
            Self::Metadata => FieldTree::none().with("metadata"),
            Self::Fields(tree) => COMMON_FIELDS
                .iter()
                .fold(tree.clone(), |tree, path| tree.with(path)),
        }
    }
}

/// Whether every object, and its `PartialObjectMetadata`, has the field.
fn is_common(name: &str) -> bool {
    ["apiVersion", "kind", "metadata"].contains(&name)
}
