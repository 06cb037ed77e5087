//! Mappers from events to the keys that they enqueue.

use kubewright_core::{ObjectKey, Resource, Scope};
use kubewright_wire::record::Record;

use crate::informer::ChangeEvent;
use crate::store::Store;

/// Returns the keys that an event enqueues. The event has the object before and after the change.
///
/// It runs on the task of the source and must not block.
pub type Mapper = Box<dyn Fn(&ChangeEvent) -> Vec<ObjectKey> + Send + Sync>;

/// Enqueues the changed object.
pub fn own_mapper() -> Mapper {
    Box::new(|event| vec![event.key.clone()])
}

/// Enqueues the object of the kind `owner` that controls the changed object, before or after the
/// change.
///
/// `owners` contains the objects of that kind: an object with the same name and another uid is not
/// the owner. An owner that does not exist yet is enqueued when it is created.
pub fn owner_mapper(owner: Resource, owners: Store) -> Mapper {
    Box::new(move |event| {
        let mut keys = Vec::new();
        for record in event.old.iter().chain(&event.new) {
            let key = controller_key(record, &owner, &owners);
            keys.extend(key.filter(|key| !keys.contains(key)));
        }
        keys
    })
}

/// Ignores the version of the reference: an owner is the same object in all versions.
fn controller_key(record: &Record, owner: &Resource, owners: &Store) -> Option<ObjectKey> {
    let references = record.owner_references().ok()?;
    let reference = references
        .iter()
        .find(|reference| reference.is_controller())?;
    let kind = reference.owner_kind();
    if kind.group() != owner.kind.group() || kind.kind != owner.kind.kind {
        return None;
    }
    let key = match owner.scope {
        Scope::Cluster => ObjectKey::cluster_scoped(&reference.name),
        Scope::Namespaced => ObjectKey::new(record.namespace(), &reference.name),
    };
    let present = owners.get(&key)?;
    (present.uid() == reference.uid).then_some(key)
}

#[cfg(test)]
mod tests {
    use kubewright_core::{Kind, ObjectKey, Resource, Scope};
    use kubewright_wire::record::Record;
    use serde_json::{Value, json};

    use super::owner_mapper;
    use crate::store::{ChangeEvent, Delta, Filter, Store};

    fn record(value: Value) -> Record {
        Record::from_value(&value).unwrap()
    }

    fn pod(owner_uid: &str, api_version: &str) -> Record {
        record(
            json!({"metadata": {"name": "p", "namespace": "a", "ownerReferences": [
                {"apiVersion": api_version, "kind": "Set", "name": "s", "uid": owner_uid,
                 "controller": true},
            ]}}),
        )
    }

    fn enqueued(scope: Scope, old: Option<Record>, new: Option<Record>) -> Vec<String> {
        let owners = Store::new(Filter::default());
        let namespace = matches!(scope, Scope::Namespaced).then_some("a");
        let set = json!({"metadata": {"name": "s", "namespace": namespace, "uid": "1"}});
        owners.apply([Delta::Applied(record(set))]);
        let mapper = owner_mapper(
            Resource::new(Kind::new("ex.io", "v1", "Set"), "sets", scope),
            owners,
        );
        let event = ChangeEvent {
            key: ObjectKey::namespaced("a", "p"),
            old,
            new,
            is_initial: false,
        };
        mapper(&event).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn owner_is_identified_by_group_kind_and_uid_in_any_version() {
        use Scope::{Cluster, Namespaced};
        assert_eq!(
            enqueued(Namespaced, None, Some(pod("1", "ex.io/v2"))),
            ["a/s"]
        );
        assert_eq!(enqueued(Cluster, None, Some(pod("1", "ex.io/v1"))), ["s"]);
        assert!(enqueued(Namespaced, None, Some(pod("2", "ex.io/v1"))).is_empty());
        assert!(enqueued(Namespaced, None, Some(pod("1", "other.io/v1"))).is_empty());
    }

    #[test]
    fn former_owner_of_an_orphaned_object_is_enqueued() {
        let orphan = record(json!({"metadata": {"name": "p", "namespace": "a"}}));
        let owned = pod("1", "ex.io/v1");
        assert_eq!(
            enqueued(Scope::Namespaced, Some(owned.clone()), Some(orphan)),
            ["a/s"]
        );
        assert_eq!(
            enqueued(Scope::Namespaced, Some(owned.clone()), Some(owned)),
            ["a/s"]
        );
    }
}
