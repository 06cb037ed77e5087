//! Owner references by hand, for objects that are written in another way than by
//! [`Context::apply`](crate::Context::apply), which sets them.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::ResourceExt as _;
use kubewright_core::GroupVersion;

use crate::controller::{AnyKind, TypedKind};
use crate::{Error, Result};

/// Makes `owner` the one controller of `object`: the object goes with it, and
/// [`owns`](crate::Controller::owns) finds it. A reference that is there is renewed.
///
/// An object that something else controls is refused, and so is one outside the owner's namespace:
/// Kubernetes would delete it.
///
/// ```
/// use kubewright::prelude::*;
/// use kubewright::owner;
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
/// assert_eq!(owner::controller_of(&page).map(|one| one.name.as_str()), Some("site"));
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
    if let Some(other) = controller_of(object).filter(|one| !is_same(one, &reference)) {
        return Err(Error::AlreadyControlled {
            what: object.name_any(),
            owner: named(&reference),
            controller: named(other),
        });
    }
    put(object, reference);
    Ok(())
}

/// Makes `owner` one of the owners of `object`, which goes when the last of them has gone. A
/// reference that is there is replaced.
///
/// An object outside the owner's namespace is refused.
pub fn set_owner<O, D>(owner: &O, object: &mut D) -> Result<(), Error>
where
    O: TypedKind,
    D: AnyKind,
{
    let reference = reference(owner, object)?;
    put(object, reference);
    Ok(())
}

/// Takes `owner` out of the owners of `object`, its controller or not; whether it was one.
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
    owners.retain(|one| !is_same(one, &reference));
    owners.len() < before
}

/// The reference to what controls the object.
pub fn controller_of<D: AnyKind>(object: &D) -> Option<&OwnerReference> {
    let mut owners = object.meta().owner_references.iter().flatten();
    owners.find(|one| one.controller == Some(true))
}

/// Whether `owner` is among the owners of `object`: the very one, not a former one of its name.
pub fn is_owner<O, D>(owner: &O, object: &D) -> bool
where
    O: TypedKind,
    D: AnyKind,
{
    let uid = owner.meta().uid.as_deref();
    let mut owners = object.meta().owner_references.iter().flatten();
    uid.is_some_and(|uid| owners.any(|one| one.uid == uid))
}

fn reference<O: TypedKind, D: AnyKind>(owner: &O, object: &D) -> Result<OwnerReference, Error> {
    let refused = |why| Error::Refused {
        what: format!("own {}", object.name_any()),
        why,
    };
    let reference = owner.owner_ref(&()).ok_or_else(|| refused(NOT_READ))?;
    match (
        owner.meta().namespace.as_deref(),
        object.meta().namespace.as_deref(),
    ) {
        (Some(one), Some(other)) if one != other => Err(refused(ELSEWHERE)),
        (Some(_), None) => Err(refused(NOWHERE)),
        _ => Ok(reference),
    }
}

const NOT_READ: &str = "the owner has no uid; take one that was read from the cluster";
const ELSEWHERE: &str = "an object in a namespace owns only objects of that namespace; use a \
                         finalizer instead";
const NOWHERE: &str = "the owner is in a namespace and the object names none; name the owner's, or \
                       use a finalizer where the kind is in none";

fn put<D: AnyKind>(object: &mut D, reference: OwnerReference) {
    let owners = object.owner_references_mut();
    match owners.iter_mut().find(|one| is_same(one, &reference)) {
        Some(former) => *former = reference,
        None => owners.push(reference),
    }
}

/// By group, kind and name, as controllerutil has it: a former object of the name is replaced.
fn is_same(one: &OwnerReference, other: &OwnerReference) -> bool {
    let group = |one: &OwnerReference| GroupVersion::from_api_version(&one.api_version).group;
    one.kind == other.kind && one.name == other.name && group(one) == group(other)
}

fn named(reference: &OwnerReference) -> String {
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
            .map(|one| format!("{} {} {:?}", one.name, one.uid, one.controller))
            .collect()
    }

    #[test]
    fn an_object_has_one_controller_and_any_number_of_owners() {
        let (a, b) = (map("a", "web", "1"), map("b", "web", "2"));
        let mut secret = secret(Some("web"));
        set_controller(&a, &mut secret).unwrap();
        set_owner(&b, &mut secret).unwrap();
        assert_eq!(owners(&secret), ["a 1 Some(true)", "b 2 None"]);
        let error = set_controller(&b, &mut secret).unwrap_err().to_string();
        assert!(error.contains("ConfigMap a is"), "{error}");
        // The next of that name takes the place of the former.
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
    fn an_owner_reaches_no_further_than_its_namespace() {
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
