//! Predicates over changes of an object: `kind::<Node>().when(changed::labels())`. Creation and
//! deletion always pass; [`only`](super::only) filters these.

use k8s_openapi::api::core::v1::Node;

use super::{AnyKind, Predicate};

/// Passes changes of the labels.
pub fn labels<K: AnyKind>() -> Predicate<K> {
    field(&["metadata", "labels"])
}

/// Passes changes of the annotations.
pub fn annotations<K: AnyKind>() -> Predicate<K> {
    field(&["metadata", "annotations"])
}

/// Passes changes of the generation: of the spec, and for most kinds of nothing else.
///
/// A few built-in kinds, such as ConfigMap and Secret, have no generation: their changes never
/// pass.
pub fn generation<K: AnyKind>() -> Predicate<K> {
    field(&["metadata", "generation"])
}

/// Passes every change, but not the repetition of a known state.
pub fn resource_version<K: AnyKind>() -> Predicate<K> {
    field(&["metadata", "resourceVersion"])
}

/// Passes changes of a node's taints.
pub fn taints() -> Predicate<Node> {
    field(&["spec", "taints"])
}

/// Passes changes for which the function returns true; its arguments are the object before and
/// after the change.
///
/// The change of an object that does not decode passes, so that none is missed.
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
        old.field(path.iter().copied()) != new.field(path.iter().copied())
    })
}
