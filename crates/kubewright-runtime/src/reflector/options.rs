//! The options of a reflector.

use std::collections::HashMap;

use kubewright_core::Resource;

use super::protobuf::Protobuf;
use super::streaming::Streaming;
use super::transform::Transform;

/// The options of a reflector.
#[derive(Clone, Debug)]
pub struct ReflectorOptions {
    /// The field manager whose Apply entry of `metadata.managedFields` is stored in the records as
    /// a hash.
    pub field_manager: Option<String>,
    /// Whether the state is read as the beginning of the watch, where the server supports it.
    pub streaming: Streaming,
    /// Whether built-in kinds are requested in protobuf, where the server supports it.
    pub protobuf: Protobuf,
    /// The number of objects per page of a list.
    pub page_size: u32,
    /// The largest object that is read, in bytes. Only the metadata of a larger object is kept.
    pub largest_object: usize,
    /// The change to each object of a kind before it is stored.
    pub transforms: HashMap<Resource, Transform>,
    /// The change to each object of all other kinds.
    pub transform: Option<Transform>,
    /// The seed of the jitter; none takes a random seed for each reflector.
    pub seed: Option<u64>,
}

impl ReflectorOptions {
    /// The change to each object of this kind.
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
            // etcd accepts 1.5 MB by default, and its documentation advises at most 8 MB.
            largest_object: 16 << 20,
            transforms: HashMap::new(),
            transform: None,
            seed: None,
        }
    }
}
