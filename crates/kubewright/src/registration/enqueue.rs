//! Which objects of a controller's own kind an event wakes: the last argument of `watches` and
//! `source`.

use kubewright_core::ObjectKey;

use super::{AnyKind, Cache};

/// All of them.
pub fn all<W, K: AnyKind>() -> impl Fn(&W, &Cache<K>) -> Vec<ObjectKey> {
    |_, own| own.keys()
}

/// The one whose key came.
pub fn itself<K: AnyKind>() -> impl Fn(&ObjectKey, &Cache<K>) -> Option<ObjectKey> {
    |key, _| Some(key.clone())
}
