//! Mappers: the keys of a controller's own kind that an event enqueues. The last argument of
//! `watches` and `source`.

use kubewright_core::ObjectKey;

use super::{AnyKind, Cache};

/// Enqueues all objects.
pub fn all<W, K: AnyKind>() -> impl Fn(&W, &Cache<K>) -> Vec<ObjectKey> {
    |_, own| own.keys()
}

/// Enqueues the object of the same name, in the same namespace if the kind is namespaced.
pub fn same_name<W: AnyKind, K: AnyKind>() -> impl Fn(&W, &Cache<K>) -> Option<ObjectKey> {
    |object, own| {
        let meta = object.meta();
        Some(own.key(meta.namespace.as_deref(), meta.name.as_deref()?))
    }
}

/// Enqueues all owners of the object, whether they control it or not.
///
/// [`Controller::owns`](crate::Controller::owns) enqueues the owner that controls it.
pub fn owners<W: AnyKind, K: AnyKind>() -> impl Fn(&W, &Cache<K>) -> Vec<ObjectKey> {
    |object, own| {
        let meta = object.meta();
        let references = meta.owner_references.iter().flatten();
        let namespace = meta.namespace.as_deref();
        let keys = references.filter_map(|reference| own.owner(reference, namespace));
        keys.collect()
    }
}

/// Enqueues the key that the stream returned.
pub fn itself<K: AnyKind>() -> impl Fn(&ObjectKey, &Cache<K>) -> Option<ObjectKey> {
    |key, _| Some(key.clone())
}

#[cfg(test)]
mod tests {
    use http::{Request, Response};
    use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Pod};
    use kube::Client;
    use kube::client::Body;
    use kubewright_runtime::cache::View;
    use kubewright_runtime::informer::{InformerSpec, Informers};
    use kubewright_runtime::store::Delta;
    use kubewright_wire::record::Record;
    use serde_json::{Value, json};

    use super::{owners, same_name};
    use crate::kinds::{Cache, TypedKind, resource_of};

    /// Returns a cache with one object, and the informers that keep it alive.
    fn cache<K: TypedKind>(object: &Value) -> (Cache<K>, Informers) {
        let unreachable = tower::service_fn(async |_: Request<Body>| {
            Err::<Response<Body>, _>("connection refused")
        });
        let informers = Informers::new(Client::new(unreachable, "default"), Default::default());
        let informer = informers.get(&InformerSpec::all(resource_of::<K>()));
        let record = Record::from_value(object).unwrap();
        informer.store().apply([Delta::Applied(record)]);
        (Cache::new(View::new(informer)), informers)
    }

    fn pod(references: &Value) -> Pod {
        let metadata = json!({
            "name": "web", "namespace": "web", "ownerReferences": references,
        });
        serde_json::from_value(json!({"metadata": metadata})).unwrap()
    }

    #[tokio::test]
    async fn owner_is_matched_by_group_kind_and_uid_in_any_version() {
        let map = json!({"metadata": {"name": "a", "namespace": "web", "uid": "1"}});
        let (maps, _informers) = cache::<ConfigMap>(&map);
        let enqueued = |api_version: &str, kind: &str, uid: &str| {
            let reference = json!([
                {"apiVersion": api_version, "kind": kind, "name": "a", "uid": uid},
            ]);
            let keys = owners::<Pod, ConfigMap>()(&pod(&reference), &maps);
            keys.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(enqueued("v1", "ConfigMap", "1"), ["web/a"]);
        assert_eq!(enqueued("v2", "ConfigMap", "1"), ["web/a"]);
        assert!(enqueued("v1", "ConfigMap", "2").is_empty());
        assert!(enqueued("v1", "Secret", "1").is_empty());
        assert!(enqueued("ex.io/v1", "ConfigMap", "1").is_empty());
    }

    #[tokio::test]
    async fn same_name_has_a_namespace_only_for_namespaced_kinds() {
        let (namespaces, _informers) = cache::<Namespace>(&json!({"metadata": {"name": "web"}}));
        let (maps, _informers) = cache::<ConfigMap>(&json!({"metadata": {"name": "web"}}));
        let web = pod(&json!([]));
        let key = same_name::<Pod, Namespace>()(&web, &namespaces);
        assert_eq!(key.map(|key| key.to_string()).as_deref(), Some("web"));
        let key = same_name::<Pod, ConfigMap>()(&web, &maps);
        assert_eq!(key.map(|key| key.to_string()).as_deref(), Some("web/web"));
    }
}
