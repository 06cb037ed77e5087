//! Owner references, for objects that are not written by
//! [`Context::apply`](crate::Context::apply), which sets them.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::ResourceExt as _;
use kubewright_core::GroupVersion;

use crate::kinds::{AnyKind, TypedKind};
use crate::{Error, Result};

/// Makes `owner` the controller of `object`: the object is deleted with it, and
/// [`owns`](crate::Controller::owns) finds it. An existing reference is replaced.
///
/// It is an error if another object controls `object`, or if `object` is outside the owner's
/// namespace: Kubernetes would delete it.
///
/// ```
/// use kubewright::owner;
/// use kubewright::prelude::*;
///
/// let object = |name: &str, uid: &str| ConfigMap {
///     metadata: ObjectMeta {
///         name: Some(name.to_owned()),
///         namespace: Some("web".to_owned()),
///         uid: Some(uid.to_owned()),
///         ..ObjectMeta::default()
///     },
///     ..ConfigMap::default()
/// };
/// let (site, other, mut page) = (object("site", "1"), object("other", "2"), object("page", "3"));
/// owner::set_controller(&site, &mut page)?;
/// assert_eq!(owner::controller_of(&page).map(|reference| reference.name.as_str()), Some("site"));
/// assert!(owner::set_controller(&other, &mut page).is_err());
/// # Ok::<(), kubewright::Error>(())
/// ```
pub fn set_controller<O, D>(owner: &O, object: &mut D) -> Result<(), Error>
where
    O: TypedKind,
    D: AnyKind,
{
    let reference = OwnerReference {
        controller: Some(true),
        block_owner_deletion: Some(true),
        ..reference(owner, object)?
    };
    if let Some(other) = controller_of(object).filter(|other| !is_same(other, &reference)) {
        return Err(Error::AlreadyControlled {
            object: object.name_any(),
            owner: qualified_name(&reference),
            controller: qualified_name(other),
        });
    }
    insert(object, reference);
    Ok(())
}

/// Makes `owner` one of the owners of `object`, which is deleted after the last of its owners. An
/// existing reference is replaced.
///
/// It is an error if `object` is outside the owner's namespace.
pub fn set_owner<O, D>(owner: &O, object: &mut D) -> Result<(), Error>
where
    O: TypedKind,
    D: AnyKind,
{
    let reference = reference(owner, object)?;
    insert(object, reference);
    Ok(())
}

/// Removes `owner` from the owners of `object`, and returns whether it was one.
pub fn remove<O, D>(owner: &O, object: &mut D) -> bool
where
    O: TypedKind,
    D: AnyKind,
{
    let Some(reference) = owner.owner_ref(&()) else {
        return false;
    };
    let Some(owners) = &mut object.meta_mut().owner_references else {
        return false;
    };
    let before = owners.len();
    owners.retain(|existing| !is_same(existing, &reference));
    owners.len() < before
}

/// Returns the reference to the controller of the object.
pub fn controller_of<D: AnyKind>(object: &D) -> Option<&OwnerReference> {
    let mut owners = object.meta().owner_references.iter().flatten();
    owners.find(|reference| reference.controller == Some(true))
}

/// Whether `owner` is among the owners of `object`, by uid.
pub fn is_owner<O, D>(owner: &O, object: &D) -> bool
where
    O: TypedKind,
    D: AnyKind,
{
    let uid = owner.meta().uid.as_deref();
    let mut owners = object.meta().owner_references.iter().flatten();
    uid.is_some_and(|uid| owners.any(|reference| reference.uid == uid))
}

fn reference<O: TypedKind, D: AnyKind>(owner: &O, object: &D) -> Result<OwnerReference, Error> {
    let invalid = |why| Error::Invalid {
        what: format!("own {}", object.name_any()),
        why,
    };
    let reference = owner.owner_ref(&()).ok_or_else(|| invalid(NOT_READ))?;
    match (
        owner.meta().namespace.as_deref(),
        object.meta().namespace.as_deref(),
    ) {
        (Some(owner), Some(object)) if owner != object => Err(invalid(OTHER_NAMESPACE)),
        (Some(_), None) => Err(invalid(NO_NAMESPACE)),
        _ => Ok(reference),
    }
}

const NOT_READ: &str = "the owner has no uid; use an owner that was read from the cluster";
const OTHER_NAMESPACE: &str = "an object in a namespace owns only objects of that namespace; use a \
                               finalizer instead";
const NO_NAMESPACE: &str = "the owner is in a namespace and the object has none; set that of the \
                            owner, or use a finalizer if the kind is cluster-scoped";

fn insert<D: AnyKind>(object: &mut D, reference: OwnerReference) {
    let owners = object.owner_references_mut();
    let existing = owners
        .iter_mut()
        .find(|existing| is_same(existing, &reference));
    match existing {
        Some(existing) => *existing = reference,
        None => owners.push(reference),
    }
}

/// Compares group, kind and name, as controllerutil does: the reference to an earlier object of the
/// same name is replaced.
fn is_same(left: &OwnerReference, right: &OwnerReference) -> bool {
    let group =
        |reference: &OwnerReference| GroupVersion::from_api_version(&reference.api_version).group;
    left.kind == right.kind && left.name == right.name && group(left) == group(right)
}

fn qualified_name(reference: &OwnerReference) -> String {
    format!("{} {}", reference.kind, reference.name)
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret};
    use serde_json::json;

    use super::{controller_of, is_owner, remove, set_controller, set_owner};

    fn map(name: &str, namespace: &str, uid: &str) -> ConfigMap {
        let metadata = json!({"name": name, "namespace": namespace, "uid": uid});
        serde_json::from_value(json!({"metadata": metadata})).unwrap()
    }

    fn secret(namespace: Option<&str>) -> Secret {
        let metadata = json!({"name": "s", "namespace": namespace});
        serde_json::from_value(json!({"metadata": metadata})).unwrap()
    }

    fn owners(secret: &Secret) -> Vec<String> {
        let owners = secret.metadata.owner_references.iter().flatten();
        owners
            .map(|owner| format!("{} {} {:?}", owner.name, owner.uid, owner.controller))
            .collect()
    }

    #[test]
    fn object_has_one_controller_and_any_number_of_owners() {
        let (a, b) = (map("a", "web", "1"), map("b", "web", "2"));
        let mut secret = secret(Some("web"));
        set_controller(&a, &mut secret).unwrap();
        set_owner(&b, &mut secret).unwrap();
        assert_eq!(owners(&secret), ["a 1 Some(true)", "b 2 None"]);
        let error = set_controller(&b, &mut secret).unwrap_err().to_string();
        assert!(error.contains("ConfigMap a is"), "{error}");
        // A later object of the same name replaces the earlier one.
        set_controller(&map("a", "web", "9"), &mut secret).unwrap();
        assert_eq!(owners(&secret), ["a 9 Some(true)", "b 2 None"]);
        assert!(!is_owner(&a, &secret));
        assert!(is_owner(&b, &secret));
        assert!(remove(&a, &mut secret));
        assert!(!remove(&a, &mut secret));
        assert!(controller_of(&secret).is_none());
        assert_eq!(owners(&secret), ["b 2 None"]);
    }

    #[test]
    fn owner_and_object_must_be_in_one_namespace() {
        let owner = map("a", "web", "1");
        for namespace in [Some("shop"), None] {
            set_controller(&owner, &mut secret(namespace)).unwrap_err();
            set_owner(&owner, &mut secret(namespace)).unwrap_err();
        }
        let metadata = json!({"name": "web", "uid": "1"});
        let namespace = json!({"metadata": metadata});
        let namespace: Namespace = serde_json::from_value(namespace).unwrap();
        set_owner(&namespace, &mut secret(Some("web"))).unwrap();
        let unread = ConfigMap::default();
        let error = set_owner(&unread, &mut secret(None)).unwrap_err();
        assert!(error.to_string().contains("no uid"), "{error}");
    }
}
