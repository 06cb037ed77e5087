//! Mappers of the runtime from mappers of users: decoding, predicates, and the fallback to all
//! keys.

use kubewright_core::ObjectKey;
use kubewright_runtime::cache::View;
use kubewright_runtime::controller::Mapper;
use kubewright_runtime::informer::ChangeEvent;

use super::predicate::ObservedChange;
use super::{AnyKind, Cache, Predicate};

/// Whether the event passes the predicate of a registration, if it has one.
pub(crate) fn passes<W>(predicate: &Option<Predicate<W>>, event: &ChangeEvent) -> bool {
    let change = ObservedChange {
        old: event.old.as_ref(),
        new: event.new.as_ref(),
        is_initial: event.is_initial,
    };
    predicate
        .as_ref()
        .is_none_or(|predicate| predicate.passes(&change))
}

/// Returns a mapper that calls `mapper` with the object before and the object after a change.
///
/// `mapper` cannot be called with an object that does not decode. The view logs such an object, and
/// all objects of the controller are enqueued: a needless run is harmless, a missing one is not.
pub(crate) fn by_mapper<W, K, F, I>(
    predicate: Option<Predicate<W>>,
    view: View<W>,
    own: Cache<K>,
    mapper: F,
) -> Mapper
where
    W: AnyKind,
    K: AnyKind,
    F: Fn(&W, &Cache<K>) -> I + Send + Sync + 'static,
    I: IntoIterator<Item = ObjectKey>,
{
    Box::new(move |event| {
        if !passes(&predicate, event) {
            return Vec::new();
        }
        let mut keys = Vec::new();
        for record in event.old.iter().chain(&event.new) {
            match view.decode(&event.key, record) {
                Ok(object) => keys.extend(mapper(&object, &own)),
                Err(_) => return own.keys(),
            }
        }
        keys
    })
}

#[cfg(test)]
mod tests {
    use http::{Request, Response};
    use k8s_openapi::api::core::v1::{ConfigMap, Node};
    use kube::Client;
    use kube::client::Body;
    use kubewright_core::ObjectKey;
    use kubewright_runtime::cache::View;
    use kubewright_runtime::informer::{ChangeEvent, Informer, InformerSpec, Informers};
    use kubewright_runtime::store::Delta;
    use kubewright_wire::record::Record;
    use serde_json::{Value, json};

    use super::by_mapper;
    use crate::kinds::{Cache, TypedKind, resource_of};

    fn informer<W: TypedKind>(informers: &Informers) -> Informer {
        informers.get(&InformerSpec::all(resource_of::<W>()))
    }

    /// Returns which of the ConfigMaps `a` and `b` a new node enqueues, by a mapper that returns
    /// the first.
    fn enqueued(node: Value) -> Vec<String> {
        let unreachable = tower::service_fn(async |_: Request<Body>| {
            Err::<Response<Body>, _>("connection refused")
        });
        let informers = Informers::new(Client::new(unreachable, "default"), Default::default());
        let own = informer::<ConfigMap>(&informers);
        let config_map = |name| json!({"metadata": {"name": name, "namespace": "x", "uid": name}});
        let records = ["a", "b"].map(|name| Record::from_value(&config_map(name)).unwrap());
        own.store().apply(records.map(Delta::Applied));
        let view = View::<Node>::new(informer::<Node>(&informers));
        let mapper = by_mapper(
            None,
            view,
            Cache::<ConfigMap>::new(View::new(own)),
            |_: &Node, own| own.keys().into_iter().take(1),
        );
        let event = ChangeEvent {
            key: ObjectKey::cluster_scoped("n"),
            old: None,
            new: Some(Record::from_value(&node).unwrap()),
            is_initial: false,
        };
        mapper(&event).iter().map(ToString::to_string).collect()
    }

    #[tokio::test]
    async fn object_that_does_not_decode_enqueues_all_keys() {
        let valid = json!({"metadata": {"name": "n"}, "spec": {"unschedulable": true}});
        assert_eq!(enqueued(valid), ["x/a"]);
        let invalid = json!({"metadata": {"name": "n"}, "spec": {"unschedulable": "yes"}});
        assert_eq!(enqueued(invalid), ["x/a", "x/b"]);
    }
}
