use std::fmt;
use std::future::IntoFuture;
use std::marker::PhantomData;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use kube::core::DynamicObject;
use kubewright_core::{OwnerReference, Resource};
use kubewright_runtime::write::{Intent, Target, WriteError};
use kubewright_wire::record::Record;

use super::{Live, Shared};
use crate::controller::{AnyKind, ViewId};
use crate::{Error, Metadata, Result};

/// The kind that is written, and the view that learns of it.
#[derive(Clone, Debug)]
pub(super) struct Written {
    pub(super) resource: Resource,
    pub(super) view: ViewId,
}

/// An apply that is done when it is awaited; made by [`Context::apply`](super::Context::apply).
///
/// # Cancel safety
///
/// Dropped before its end, the object may or may not have been written; trying again is safe.
#[must_use = "an apply does nothing until it is awaited"]
pub struct Apply<W> {
    shared: Arc<Shared>,
    written: Written,
    intent: Result<Intent, WriteError>,
    owner: Option<OwnerReference>,
    namespace: Option<String>,
    kind: PhantomData<fn() -> W>,
}

impl<W: AnyKind> Apply<W> {
    pub(super) fn new(
        shared: Arc<Shared>,
        written: Written,
        object: &W,
        namespace: Option<&str>,
        owner: OwnerReference,
    ) -> Self {
        Self {
            shared,
            intent: Intent::new(&written.resource, object, namespace),
            written,
            owner: Some(owner),
            namespace: namespace.map(str::to_owned),
            kind: PhantomData,
        }
    }

    /// Leaves the owner out: the object stays when the reconciled one goes.
    pub fn unowned(mut self) -> Self {
        self.owner = None;
        self
    }

    async fn send(mut self) -> Result<Arc<W>> {
        let shared = Arc::clone(&self.shared);
        let Written { resource, view } = &self.written;
        let target = Target {
            resource,
            store: shared.views.store(view, resource),
        };
        let owner = self.owner.take();
        let namespace = self.namespace.take();
        let mut intent = self.intent?;
        let present = target.store.and_then(|store| store.get(intent.key()));
        let refusal = match &owner {
            Some(_) if !shared.views.owns(resource) => Some(NOT_REGISTERED),
            // Kubernetes' garbage collector deletes dependents whose owner it cannot see.
            Some(_) if namespace.is_some() && namespace.as_deref() != intent.key().namespace() => {
                Some(ELSEWHERE)
            }
            Some(owner) => {
                let foreign = is_foreign(&shared, &self.written, &intent, owner);
                foreign.await?.then_some(FOREIGN)
            }
            None => loses_owner(&shared.resource, present, &intent).then_some(LOST),
        };
        if let Some(why) = refusal {
            let what = format!("apply {} {}", resource.qualified_name(), intent.key());
            return Err(Error::Refused { what, why }.into());
        }
        if let Some(owner) = &owner {
            intent = intent.owned_by(owner);
        }
        let record = shared.writer.apply(target, &intent).await?;
        Ok(Arc::new(record.decode()?))
    }
}

const NOT_REGISTERED: &str = "the controller does not own this kind, so it would not see whose the \
                              object is; add .owns(kind::<..>()), or apply it with .unowned()";
const FOREIGN: &str = "an object of that name is there and the reconciled one does not control it; \
                       choose another name or delete that object; one that no object of this \
                       operator owns can be shared with .unowned()";
const ELSEWHERE: &str = "an object in a namespace owns only objects of that namespace; apply it with \
                         .unowned() and delete it with a finalizer";
const LOST: &str = "this operator made it with an owner, which .unowned() would take away; apply it \
                    without .unowned(), or choose another name";

/// Whether an object of that name is there that `owner` does not control.
async fn is_foreign(
    shared: &Shared,
    written: &Written,
    intent: &Intent,
    owner: &OwnerReference,
) -> Result<bool> {
    let store = shared.views.store(&written.view, &written.resource);
    if let Some(record) = store.and_then(|store| store.get(intent.key())) {
        let owners = record.owner_references().unwrap_or_default();
        let mut controllers = owners.iter().filter(|one| one.is_controller());
        return Ok(!controllers.any(|one| one.uid == owner.uid));
    }
    if !shared.views.is_partial(&written.view, &written.resource) {
        return Ok(false);
    }
    // It may be there all the same: the view's selector hides it. The same type for all kinds, so
    // that none is compiled for one more source of serde's.
    let live = Live::new(shared.client.clone(), None, None);
    let found = live.get_of::<Metadata<DynamicObject>>(&written.resource, intent.key());
    Ok(found.await?.is_some_and(|object| {
        let mut owners = object.metadata.owner_references.iter().flatten();
        !owners.any(|one| one.controller == Some(true) && one.uid == owner.uid)
    }))
}

/// Whether the object has an owner of the controller's kind by an apply of ours, which an intent
/// without it would take back.
fn loses_owner(kind: &Resource, present: Option<Record>, intent: &Intent) -> bool {
    let Some(record) = present.filter(|record| record.field_hash().is_some()) else {
        return false;
    };
    let metadata = intent.body().get("metadata");
    let named = metadata.and_then(|metadata| metadata["ownerReferences"].as_array());
    let is_named = |uid: &str| named.is_some_and(|all| all.iter().any(|one| one["uid"] == uid));
    let owners = record.owner_references().unwrap_or_default();
    owners.iter().any(|one| {
        let owner = one.owner_kind();
        let is_ours = owner.group() == kind.kind.group() && owner.kind == kind.kind.kind;
        is_ours && one.is_controller() && !is_named(&one.uid)
    })
}

impl<W: AnyKind> IntoFuture for Apply<W> {
    type Output = Result<Arc<W>>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.send())
    }
}

impl<W> fmt::Debug for Apply<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Apply")
            .field("intent", &self.intent)
            .field("owner", &self.owner)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};
    use std::sync::Arc;

    use http::{Request, Response};
    use k8s_openapi::api::core::v1::{ConfigMap, Node};
    use kube::Client;
    use kube::client::Body;
    use kubewright_core::{Clock, OwnerReference};
    use kubewright_runtime::controller::Handle;
    use kubewright_runtime::events::{EventRecorder, Reporter};
    use kubewright_runtime::informer::{InformerSpec, Informers};
    use kubewright_runtime::store::Delta;
    use kubewright_runtime::write::Writer;
    use kubewright_wire::record::{Encoder, EncoderOptions};
    use parking_lot::Mutex;
    use serde_json::{Value, json};

    use super::{Apply, Shared, Written};
    use crate::controller::{AnyView, ViewId, Views, resource_of};

    type Seen = Arc<Mutex<Vec<String>>>;

    /// A client whose API server has one ConfigMap that nobody owns, and what it was asked.
    fn client() -> (Client, Seen) {
        let seen = Seen::default();
        let kept = Arc::clone(&seen);
        let service = tower::service_fn(move |request: Request<Body>| {
            kept.lock()
                .push(format!("{} {}", request.method(), request.uri().path()));
            let found = config_map(&json!([]), "other").to_string();
            async move {
                Ok::<_, std::convert::Infallible>(Response::new(Body::from(found.into_bytes())))
            }
        });
        (Client::new(service, "default"), seen)
    }

    fn config_map(owners: &Value, manager: &str) -> Value {
        json!({"metadata": {
            "name": "a", "namespace": "web", "uid": "1", "resourceVersion": "5",
            "ownerReferences": owners,
            "managedFields": [{"manager": manager, "operation": "Apply",
                               "fieldsType": "FieldsV1", "fieldsV1": {"f:metadata": {}}}],
        }})
    }

    /// What a controller of nodes shares that sees `cached` among the selected ConfigMaps.
    fn shared(labels: &str, owns: bool, cached: Option<Value>) -> (Arc<Shared>, Informers, Seen) {
        let (client, seen) = client();
        // Its own client: what it asks is not counted.
        let informers = Informers::new(self::client().0, Default::default());
        let informer = informers.get(&InformerSpec {
            labels: labels.parse().unwrap(),
            ..InformerSpec::all(resource_of::<ConfigMap>())
        });
        let mut encoder = Encoder::new(EncoderOptions {
            field_manager: Some("us".to_owned()),
            kind: None,
        });
        let cached = cached.map(|value| encoder.encode_value(&value).unwrap());
        informer.store().apply(cached.map(Delta::Applied));
        let kind = ViewId::of::<ConfigMap>();
        let views = HashMap::from([(kind, AnyView::indexed::<ConfigMap>("test", &[], informer))]);
        let owned = owns.then(resource_of::<ConfigMap>);
        let owned: HashSet<_> = owned.into_iter().collect();
        let shared = Shared {
            resource: resource_of::<Node>(),
            own: ViewId::of::<Node>(),
            views: Views::new("test", views, owned),
            writer: Writer::new(client.clone(), "us"),
            informers: informers.clone(),
            namespaces: None,
            own_namespace: "test-system".into(),
            events: EventRecorder::new(client.clone(), Clock::system(), reporter()).0,
            client,
            clock: Clock::system(),
            controller: Handle::new("test", Default::default()),
        };
        (Arc::new(shared), informers, seen)
    }

    fn reporter() -> Reporter {
        Reporter {
            controller: "test".to_owned(),
            instance: "test".to_owned(),
        }
    }

    fn apply(shared: &Arc<Shared>) -> Apply<ConfigMap> {
        let mut object = ConfigMap::default();
        object.metadata.name = Some("a".to_owned());
        object.metadata.namespace = Some("web".to_owned());
        let owner = OwnerReference::controller(&shared.resource.kind, "n", "7");
        let written = Written {
            resource: resource_of::<ConfigMap>(),
            view: ViewId::of::<ConfigMap>(),
        };
        Apply::new(Arc::clone(shared), written, &object, None, owner)
    }

    async fn refusal(apply: Apply<ConfigMap>) -> String {
        apply.await.map(drop).unwrap_err().to_string()
    }

    #[tokio::test]
    async fn an_owned_apply_of_a_kind_that_is_not_owned_is_refused() {
        let (shared, _informers, seen) = shared("", false, None);
        let error = refusal(apply(&shared)).await;
        assert!(error.contains("add .owns(kind::<..>())"), "{error}");
        assert!(seen.lock().is_empty());
        apply(&shared).unowned().await.unwrap();
    }

    #[tokio::test]
    async fn an_object_that_the_selector_hides_is_not_adopted() {
        let (shared, _informers, seen) = shared("app=web", true, None);
        let error = refusal(apply(&shared)).await;
        assert!(error.contains("does not control it"), "{error}");
        assert_eq!(*seen.lock(), ["GET /api/v1/namespaces/web/configmaps/a"]);
    }

    #[tokio::test]
    async fn unowned_does_not_take_an_owner_away() {
        let owners = json!([{"apiVersion": "v1", "kind": "Node", "name": "m", "uid": "6",
                             "controller": true}]);
        let (ours, _informers, seen) = shared("", true, Some(config_map(&owners, "us")));
        let error = refusal(apply(&ours).unowned()).await;
        assert!(error.contains("would take away"), "{error}");
        assert!(seen.lock().is_empty());
        let (others, _informers, _) = shared("", true, Some(config_map(&owners, "other")));
        apply(&others).unowned().await.unwrap();
    }
}
