//! The identity of a view among those of one controller.

use std::any::TypeId;

use kubewright_core::Resource;

use super::TypedKind;

/// Identifies a view among those of one controller.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ViewId {
    /// The view of a type.
    Typed(TypeId),
    /// The view of a kind that is known only at run time.
    Dynamic(Resource),
}

impl ViewId {
    pub(crate) fn of<K: TypedKind>() -> Self {
        Self::Typed(TypeId::of::<K>())
    }
}
