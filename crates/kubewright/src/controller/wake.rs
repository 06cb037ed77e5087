use kubewright_core::ObjectKey;
use kubewright_runtime::cache::View;
use kubewright_runtime::controller::Mapper;
use kubewright_runtime::informer::ChangeEvent;

use super::predicate::Seen;
use super::{AnyKind, Cache, Predicate};

/// Whether the registration is about this event.
pub(crate) fn passes<W>(predicate: &Option<Predicate<W>>, event: &ChangeEvent) -> bool {
    let seen = Seen {
        old: event.old.as_ref(),
        new: event.new.as_ref(),
        is_initial: event.is_initial,
    };
    predicate.as_ref().is_none_or(|one| one.passes(&seen))
}

/// Asks `mapper` about the object before and the object after a change.
///
/// It cannot be asked about one that does not decode. The view says so in the log, and all objects
/// of the controller are woken: one run too many is harmless, one that is missing is not.
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
    use crate::controller::{Cache, TypedKind, resource_of};

    fn informer<W: TypedKind>(informers: &Informers) -> Informer {
        informers.get(&InformerSpec::all(resource_of::<W>()))
    }

    /// Which ConfigMaps of `a` and `b` a new node wakes, by a mapper that names the first.
    fn woken(node: Value) -> Vec<String> {
        let nowhere =
            tower::service_fn(async |_: Request<Body>| Err::<Response<Body>, _>("nobody is there"));
        let informers = Informers::new(Client::new(nowhere, "default"), Default::default());
        let own = informer::<ConfigMap>(&informers);
        let present = |name| json!({"metadata": {"name": name, "namespace": "x", "uid": name}});
        let present = ["a", "b"].map(|name| Record::from_value(&present(name)).unwrap());
        own.store().apply(present.map(Delta::Applied));
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
    async fn an_object_that_does_not_decode_wakes_all() {
        let sound = json!({"metadata": {"name": "n"}, "spec": {"unschedulable": true}});
        assert_eq!(woken(sound), ["x/a"]);
        let broken = json!({"metadata": {"name": "n"}, "spec": {"unschedulable": "yes"}});
        assert_eq!(woken(broken), ["x/a", "x/b"]);
    }
}
