//! The metadata of an object without the rest of it.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::{Deserialize, Serialize};

/// The metadata of an object of kind `K`, for controllers that need only its existence, its owners
/// and its labels.
///
/// An informer whose views read only metadata requests only metadata from the server.
#[derive(Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Metadata<K> {
    /// The metadata, without `managedFields`.
    pub metadata: ObjectMeta,
    #[serde(skip)]
    kind: PhantomData<fn() -> K>,
}

impl<K> Metadata<K> {
    /// An object with this metadata.
    pub fn new(metadata: ObjectMeta) -> Self {
        Self {
            metadata,
            kind: PhantomData,
        }
    }
}

/// The kind is that of the whole object.
impl<K: kube::Resource> kube::Resource for Metadata<K> {
    type DynamicType = K::DynamicType;
    type Scope = K::Scope;

    fn kind(kind: &Self::DynamicType) -> Cow<'_, str> {
        K::kind(kind)
    }

    fn group(kind: &Self::DynamicType) -> Cow<'_, str> {
        K::group(kind)
    }

    fn version(kind: &Self::DynamicType) -> Cow<'_, str> {
        K::version(kind)
    }

    fn plural(kind: &Self::DynamicType) -> Cow<'_, str> {
        K::plural(kind)
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

impl<K> Clone for Metadata<K> {
    fn clone(&self) -> Self {
        Self::new(self.metadata.clone())
    }
}

impl<K> PartialEq for Metadata<K> {
    fn eq(&self, other: &Self) -> bool {
        self.metadata == other.metadata
    }
}

impl<K> fmt::Debug for Metadata<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metadata")
            .field("metadata", &self.metadata)
            .finish()
    }
}
