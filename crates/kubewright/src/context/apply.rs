//! Server-side apply of an object, with its owner.

use std::fmt;
use std::future::IntoFuture;
use std::marker::PhantomData;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use kube::core::DynamicObject;
use kubewright_core::{OwnerReference, Resource};
use kubewright_runtime::write::{Intent, Target, WriteError};
use kubewright_wire::record::Record;

use super::environment::ReconcileEnvironment;
use super::live::Live;
use crate::kinds::{AnyKind, ViewId};
use crate::{Error, Metadata, Result};

/// A kind that is written, and the view that shows its objects.
#[derive(Clone, Debug)]
pub(super) struct WrittenKind {
    pub(super) resource: Resource,
    pub(super) view: ViewId,
}

/// A server-side apply, sent when awaited; from [`Context::apply`](super::Context::apply).
///
/// # Cancel safety
///
/// If it is dropped, the object may or may not have been written; a retry is safe.
#[must_use = "an apply does nothing until it is awaited"]
pub struct Apply<W> {
    environment: Arc<ReconcileEnvironment>,
    written: WrittenKind,
    intent: Result<Intent, WriteError>,
    owner: Option<OwnerReference>,
    namespace: Option<String>,
    kind: PhantomData<fn() -> W>,
}

impl<W: AnyKind> Apply<W> {
    pub(super) fn new(
        environment: Arc<ReconcileEnvironment>,
        written: WrittenKind,
        object: &W,
        namespace: Option<&str>,
        owner: OwnerReference,
    ) -> Self {
        Self {
            environment,
            intent: Intent::new(&written.resource, object, namespace),
            written,
            owner: Some(owner),
            namespace: namespace.map(str::to_owned),
            kind: PhantomData,
        }
    }

    /// Applies without an owner: the object stays when the reconciled object is deleted.
    pub fn unowned(mut self) -> Self {
        self.owner = None;
        self
    }

    async fn send(mut self) -> Result<Arc<W>> {
        let environment = Arc::clone(&self.environment);
        let WrittenKind { resource, view } = &self.written;
        let target = Target {
            resource,
            store: environment.views.store(view, resource),
        };
        let owner = self.owner.take();
        let namespace = self.namespace.take();
        let mut intent = self.intent?;
        let present = target.store.and_then(|store| store.get(intent.key()));
        let invalid = match &owner {
            Some(_) if !environment.views.owns(resource) => Some(NOT_REGISTERED),
            // Kubernetes' garbage collector deletes dependents whose owner is in another namespace.
            Some(_) if namespace.is_some() && namespace.as_deref() != intent.key().namespace() => {
                Some(OTHER_NAMESPACE)
            }
            Some(owner) => {
                let foreign = is_foreign(&environment, &self.written, &intent, owner);
                foreign.await?.then_some(FOREIGN)
            }
            None => loses_owner(&environment.resource, present, &intent).then_some(LOSES_OWNER),
        };
        if let Some(why) = invalid {
            let what = format!("apply {} {}", resource.qualified_name(), intent.key());
            return Err(Error::Invalid { what, why }.into());
        }
        if let Some(owner) = &owner {
            intent = intent.owned_by(owner);
        }
        let record = environment.writer.apply(target, &intent).await?;
        Ok(Arc::new(record.decode()?))
    }
}

const NOT_REGISTERED: &str = "the controller does not own this kind, so it cannot see the owners of \
                              the object; add .owns(kind::<..>()), or apply it with .unowned()";
const FOREIGN: &str = "an object of that name exists and the reconciled one does not control it; \
                       choose another name or delete that object; an object that no object of this \
                       operator owns can be shared with .unowned()";
const OTHER_NAMESPACE: &str = "an object in a namespace owns only objects of that namespace; apply it \
                               with .unowned() and delete it with a finalizer";
const LOSES_OWNER: &str = "this operator created it with an owner, which .unowned() would remove; \
                           apply it without .unowned(), or choose another name";

/// Whether an object of that name exists that `owner` does not control.
async fn is_foreign(
    environment: &ReconcileEnvironment,
    written: &WrittenKind,
    intent: &Intent,
    owner: &OwnerReference,
) -> Result<bool> {
    let views = &environment.views;
    let store = views.store(&written.view, &written.resource);
    if let Some(record) = store.and_then(|store| store.get(intent.key())) {
        let owners = record.owner_references().unwrap_or_default();
        let mut controllers = owners.iter().filter(|reference| reference.is_controller());
        return Ok(!controllers.any(|reference| reference.uid == owner.uid));
    }
    if !views.is_partial(&written.view, &written.resource) {
        return Ok(false);
    }
    // The object may exist although the view's selector hides it. It is read as the same type for
    // all kinds, so that no kind's deserializer is compiled once more.
    let live = Live::new(environment.client.clone(), None, None);
    let found = live.get_of::<Metadata<DynamicObject>>(&written.resource, intent.key());
    Ok(found.await?.is_some_and(|object| {
        let mut owners = object.metadata.owner_references.iter().flatten();
        !owners.any(|reference| reference.controller == Some(true) && reference.uid == owner.uid)
    }))
}

/// Whether an earlier apply of this operator gave the object an owner of the controller's kind that
/// the intent lacks: the apply would remove it.
fn loses_owner(kind: &Resource, present: Option<Record>, intent: &Intent) -> bool {
    let Some(record) = present.filter(|record| record.field_hash().is_some()) else {
        return false;
    };
    let metadata = intent.body().get("metadata");
    let intended = metadata.and_then(|metadata| metadata["ownerReferences"].as_array());
    let is_intended = |uid: &str| {
        let mut references = intended.into_iter().flatten();
        references.any(|reference| reference["uid"] == uid)
    };
    let owners = record.owner_references().unwrap_or_default();
    owners.iter().any(|reference| {
        let owner = reference.owner_kind();
        let is_own_kind = owner.group() == kind.kind.group() && owner.kind == kind.kind.kind;
        is_own_kind && reference.is_controller() && !is_intended(&reference.uid)
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

    use super::{Apply, ReconcileEnvironment, WrittenKind};
    use crate::kinds::{AnyView, ViewId, Views, resource_of};

    /// Requests as method and path.
    type Requests = Arc<Mutex<Vec<String>>>;

    /// Returns a client whose API server has one ConfigMap without owners, and its requests.
    fn client() -> (Client, Requests) {
        let requests = Requests::default();
        let log = Arc::clone(&requests);
        let service = tower::service_fn(move |request: Request<Body>| {
            log.lock()
                .push(format!("{} {}", request.method(), request.uri().path()));
            let body = config_map(&json!([]), "other").to_string();
            async move {
                Ok::<_, std::convert::Infallible>(Response::new(Body::from(body.into_bytes())))
            }
        });
        (Client::new(service, "default"), requests)
    }

    fn config_map(owners: &Value, manager: &str) -> Value {
        json!({"metadata": {
            "name": "a", "namespace": "web", "uid": "1", "resourceVersion": "5",
            "ownerReferences": owners,
            "managedFields": [{"manager": manager, "operation": "Apply",
                               "fieldsType": "FieldsV1", "fieldsV1": {"f:metadata": {}}}],
        }})
    }

    /// How a controller of nodes registers ConfigMaps.
    #[derive(Clone, Copy, PartialEq, Eq)]
    enum Registered {
        Owns,
        Reads,
    }

    /// Returns the environment of a controller of nodes whose cache has `cached` among the selected
    /// ConfigMaps, and the requests of its client.
    fn environment(
        labels: &str,
        registered: Registered,
        cached: Option<Value>,
    ) -> (Arc<ReconcileEnvironment>, Informers, Requests) {
        let (client, requests) = client();
        // A client of its own, so that its requests are not recorded.
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
        let is_owned = registered == Registered::Owns;
        let owned: HashSet<_> = is_owned
            .then(resource_of::<ConfigMap>)
            .into_iter()
            .collect();
        let environment = ReconcileEnvironment {
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
        (Arc::new(environment), informers, requests)
    }

    fn reporter() -> Reporter {
        Reporter {
            controller: "test".to_owned(),
            instance: "test".to_owned(),
        }
    }

    fn apply(environment: &Arc<ReconcileEnvironment>) -> Apply<ConfigMap> {
        let mut object = ConfigMap::default();
        object.metadata.name = Some("a".to_owned());
        object.metadata.namespace = Some("web".to_owned());
        let owner = OwnerReference::controller(&environment.resource.kind, "n", "7");
        let written = WrittenKind {
            resource: resource_of::<ConfigMap>(),
            view: ViewId::of::<ConfigMap>(),
        };
        Apply::new(Arc::clone(environment), written, &object, None, owner)
    }

    async fn error_of(apply: Apply<ConfigMap>) -> String {
        apply.await.map(drop).unwrap_err().to_string()
    }

    #[tokio::test]
    async fn apply_with_owner_fails_for_a_kind_that_is_not_registered_as_owned() {
        let (environment, _informers, requests) = environment("", Registered::Reads, None);
        let error = error_of(apply(&environment)).await;
        assert!(error.contains("add .owns(kind::<..>())"), "{error}");
        assert!(requests.lock().is_empty());
        apply(&environment).unowned().await.unwrap();
    }

    #[tokio::test]
    async fn object_that_the_selector_hides_is_not_adopted() {
        let (environment, _informers, requests) = environment("app=web", Registered::Owns, None);
        let error = error_of(apply(&environment)).await;
        assert!(error.contains("does not control it"), "{error}");
        assert_eq!(
            *requests.lock(),
            ["GET /api/v1/namespaces/web/configmaps/a"]
        );
    }

    #[tokio::test]
    async fn unowned_apply_does_not_remove_an_owner() {
        let owners = json!([{"apiVersion": "v1", "kind": "Node", "name": "m", "uid": "6",
                             "controller": true}]);
        let cached = config_map(&owners, "us");
        let (ours, _informers, requests) = environment("", Registered::Owns, Some(cached));
        let error = error_of(apply(&ours).unowned()).await;
        assert!(error.contains("would remove"), "{error}");
        assert!(requests.lock().is_empty());
        let cached = config_map(&owners, "other");
        let (others, _informers, _) = environment("", Registered::Owns, Some(cached));
        apply(&others).unowned().await.unwrap();
    }
}
