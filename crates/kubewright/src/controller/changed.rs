//! Which changes of a watched object matter: `kind::<Node>().when(changed::labels())`. Creation and
//! deletion always do; [`only`](super::only) is about these.

use k8s_openapi::api::core::v1::Node;

use super::{AnyKind, Predicate};

/// Its labels changed.
pub fn labels<K: AnyKind>() -> Predicate<K> {
    field(&["metadata", "labels"])
}

/// Its annotations changed.
pub fn annotations<K: AnyKind>() -> Predicate<K> {
    field(&["metadata", "annotations"])
}

/// Its generation changed: the spec, and for most kinds nothing else.
///
/// A few built-in kinds, such as ConfigMap and Secret, have no generation: their changes never
/// pass.
pub fn generation<K: AnyKind>() -> Predicate<K> {
    field(&["metadata", "generation"])
}

/// Anything changed: not a repetition of what was known.
pub fn resource_version<K: AnyKind>() -> Predicate<K> {
    field(&["metadata", "resourceVersion"])
}

/// The node's taints changed.
pub fn taints() -> Predicate<Node> {
    field(&["spec", "taints"])
}

/// The function says so, given the object before and after.
///
/// An object that does not decode passes, so that nothing is missed.
pub fn by<K, F>(changed: F) -> Predicate<K>
where
    K: AnyKind,
    F: Fn(&K, &K) -> bool + Send + Sync + 'static,
{
    Predicate::of_changes(
        move |old, new| match (old.decode::<K>(), new.decode::<K>()) {
            (Ok(old), Ok(new)) => changed(&old, &new),
            _ => true,
        },
    )
}

fn field<K>(path: &'static [&'static str]) -> Predicate<K> {
    Predicate::of_changes(move |old, new| {
        let (old, new) = (
            old.field(path.iter().copied()),
            new.field(path.iter().copied()),
        );
        old != new
    })
}
