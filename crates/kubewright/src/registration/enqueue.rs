//! Which objects of a controller's own kind an event wakes: the second argument of `watches`.

use kubewright_core::ObjectKey;

use super::{Cache, TypedKind};

/// All of them.
pub fn all<W: TypedKind, K: TypedKind>() -> impl Fn(&W, &Cache<K>) -> Vec<ObjectKey> {
    |_, own| own.keys()
}
