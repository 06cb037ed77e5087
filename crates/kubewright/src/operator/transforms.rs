//! Transforms that change objects before they are cached.

use std::collections::HashMap;

use kubewright_core::Resource;
use kubewright_runtime::reflector::Transform;

/// The transforms of an operator's caches.
#[derive(Debug, Default)]
pub(super) struct Transforms {
    pub(super) by_kind: HashMap<Resource, Transform>,
    /// The transform of all other kinds.
    pub(super) others: Option<Transform>,
}
