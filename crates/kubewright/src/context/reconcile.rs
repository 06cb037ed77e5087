use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use kube::Client;
use kubewright_core::{Clock, ObjectKey, OwnerReference, Resource};
use kubewright_runtime::NamespaceSet;
use kubewright_runtime::cache::List;
use kubewright_runtime::controller::{Handle, Run};
use kubewright_runtime::events::{Event, EventRecorder, Regarding};
use kubewright_runtime::informer::{Informer, Informers};
use kubewright_runtime::write::{Target, Writer};
use serde::Serialize;

use super::apply::Written;
use super::{Apply, Dynamic, Live, Name, Object};
use crate::controller::{AnyKind, TypedKind, ViewId, Views, resource_of};
use crate::{Error, Result};

/// What a reconcile function works with.
///
/// Reads come from the cache: they never wait, and they see the operator's own writes. Reading a
/// kind that the controller has not registered is an error that names the line to add.
pub struct Context<K> {
    pub(super) shared: Arc<Shared>,
    pub(super) key: ObjectKey,
    pub(super) object: Arc<K>,
    run: u64,
}

/// What all runs of one controller share.
pub(crate) struct Shared {
    pub(crate) resource: Resource,
    /// The view of the controller's own kind.
    pub(crate) own: ViewId,
    pub(crate) views: Views,
    pub(crate) writer: Writer,
    pub(crate) informers: Informers,
    pub(crate) client: Client,
    pub(crate) clock: Clock,
    pub(crate) namespaces: Option<NamespaceSet>,
    pub(crate) own_namespace: Arc<str>,
    pub(crate) controller: Handle,
    pub(crate) events: EventRecorder,
}

impl<K: AnyKind> Context<K> {
    pub(crate) fn new(shared: Arc<Shared>, run: Run, object: Arc<K>) -> Self {
        Self {
            shared,
            key: run.key,
            object,
            run: run.id,
        }
    }

    /// All objects of a kind, in all namespaces that the operator looks at, in the order of their
    /// keys.
    pub fn list<W: TypedKind>(&self) -> Result<List<W>> {
        Ok(self.shared.views.view::<W>()?.list())
    }

    /// The objects of a kind that have the reconciled object among their owners.
    pub fn owned<W: TypedKind>(&self) -> Result<List<W>> {
        let view = self.shared.views.view::<W>()?;
        Ok(view.by_owner(self.uid()))
    }

    /// The objects of a kind whose labels match, such as `app=web,tier in (a, b)`, in all
    /// namespaces that the operator looks at, as [`list`](Self::list). Only these are decoded.
    ///
    /// For those of one namespace leave the others out, or have an index by namespace
    /// ([`Selection::index`](crate::controller::Selection::index)).
    pub fn matching<W: TypedKind>(&self, labels: &str) -> Result<List<W>> {
        Ok(self.shared.views.matching(labels)?)
    }

    /// The objects of a kind that have the value in an index, which the registration of the kind
    /// names ([`Selection::index`](crate::controller::Selection::index)).
    pub fn by_index<W: TypedKind>(&self, name: &str, value: &str) -> Result<List<W>> {
        Ok(self.shared.views.by_index(name, value)?)
    }

    /// One object: `cx.get::<ConfigMap>("settings")?` in the reconciled object's own namespace,
    /// `("namespace", "name")` or a key anywhere.
    pub fn get<'n, W: TypedKind>(&self, name: impl Into<Name<'n>>) -> Result<Option<Arc<W>>> {
        let view = self.shared.views.view::<W>()?;
        let scope = view.informer().spec().resource.scope;
        let key = name.into().key(scope, self.key.namespace());
        Ok(view.get(&key)?)
    }

    /// A kind that is known only at run time and was registered by
    /// [`kind_of`](crate::kind_of): its objects, and writing them.
    pub fn of<'c>(&'c self, resource: &'c Resource) -> Dynamic<'c, K> {
        Dynamic::new(self, resource)
    }

    /// The informer behind the reads of a kind: its store, its state, its events.
    pub fn informer<W: TypedKind>(&self) -> Result<&Informer> {
        Ok(self.shared.views.view::<W>()?.informer())
    }

    /// Makes an object as given, by server-side apply: only the fields that are set are touched.
    ///
    /// The reconciled object becomes its owner, for which the kind must be registered by
    /// [`owns`](crate::Controller::owns), and lends its namespace if none is set. Nothing is
    /// sent when nothing would change. Give it objects that are built anew each time; one that was
    /// read is refused. A status is not applied. Awaiting it gives the object as it then is.
    pub fn apply<O: Object<M>, M>(&self, object: &O) -> Apply<O::Kind> {
        let written = Written {
            resource: resource_of::<O::Kind>(),
            view: ViewId::of::<O::Kind>(),
        };
        self.apply_to(written, object.object())
    }

    pub(super) fn apply_to<W: AnyKind>(&self, written: Written, object: &W) -> Apply<W> {
        Apply::new(
            Arc::clone(&self.shared),
            written,
            object,
            self.key.namespace(),
            self.owner_reference(),
        )
    }

    /// Deletes an object that was read: that very one, and not a later one of the same name.
    ///
    /// One that is gone already is no error.
    ///
    /// # Cancel safety
    ///
    /// Dropped before its end, the object may or may not have been deleted; trying again is safe.
    pub fn delete<O: Object<M>, M>(&self, object: &O) -> BoxFuture<'static, Result<()>> {
        let written = Written {
            resource: resource_of::<O::Kind>(),
            view: ViewId::of::<O::Kind>(),
        };
        self.delete_from(written, object.object())
    }

    pub(super) fn delete_from<W: AnyKind>(
        &self,
        written: Written,
        object: &W,
    ) -> BoxFuture<'static, Result<()>> {
        let meta = object.meta();
        let name = meta.name.clone().unwrap_or_default();
        let key = ObjectKey::new(meta.namespace.as_deref(), &name);
        let uid = meta.uid.clone();
        let shared = Arc::clone(&self.shared);
        Box::pin(async move {
            let uid = uid.ok_or_else(|| Error::Refused {
                what: format!("delete {} {key}", written.resource.qualified_name()),
                why: "it has no uid; delete objects that were read, such as those of cx.list()",
            })?;
            let target = Target {
                resource: &written.resource,
                store: shared.views.store(&written.view, &written.resource),
            };
            Ok(shared.writer.delete(target, &key, &uid).await?)
        })
    }

    /// Makes the given fields of the reconciled object's status what they say, by server-side
    /// apply: for kinds without kube's `HasStatus`, such as the built-in ones.
    ///
    /// `status` is what stands below `.status`. Fields that an earlier call gave and this one does
    /// not are removed.
    ///
    /// # Cancel safety
    ///
    /// Dropped before its end, the status may or may not have been written; trying again is safe.
    pub fn apply_status(&self, status: &impl Serialize) -> BoxFuture<'static, Result<()>> {
        let status = serde_json::to_value(status);
        let (shared, key) = (Arc::clone(&self.shared), self.key.clone());
        Box::pin(async move {
            let target = shared.own_target();
            shared.writer.apply_status(target, &key, status?).await?;
            Ok(())
        })
    }

    /// Tells the users of the reconciled object what happened to it; `kubectl describe` shows it.
    ///
    /// It never waits and never fails. Events that repeat become a series, and an object that
    /// tells too many loses some. The controller must say so with
    /// [`events`](crate::Controller::events).
    pub fn event(&self, event: Event) {
        let regarding = Regarding::new(&self.shared.resource.kind, &self.key, self.uid());
        self.shared.events.record(regarding, event);
    }

    /// The same about another object that was read, such as one that it owns.
    pub fn event_about<O: Object<M>, M>(&self, object: &O, event: Event) {
        let resource = resource_of::<O::Kind>();
        let regarding = regarding(&resource, object.object());
        self.shared.events.record(regarding, event);
    }

    /// Reads past the cache.
    pub fn live(&self) -> Live {
        let namespaces = self.shared.namespaces.clone();
        Live::new(self.shared.client.clone(), self.key.namespace(), namespaces)
    }

    /// A client for everything else; it is held to the operator's role like all others.
    pub fn client(&self) -> &Client {
        &self.shared.client
    }

    /// The clock of the process; tests may have set it.
    pub fn clock(&self) -> &Clock {
        &self.shared.clock
    }

    /// The namespace that the operator itself runs in, for what belongs to no namespace of its
    /// users: that of its Pod, `--namespace`, or `NAME-system`, where its manifests put it.
    pub fn own_namespace(&self) -> &str {
        &self.shared.own_namespace
    }

    /// The number of this run, different for all runs of the process; the log calls it
    /// `reconcile_id`.
    pub fn reconcile_id(&self) -> u64 {
        self.run
    }

    /// The key of the reconciled object.
    pub fn key(&self) -> &ObjectKey {
        &self.key
    }

    pub(super) fn uid(&self) -> &str {
        self.object.meta().uid.as_deref().unwrap_or_default()
    }

    fn owner_reference(&self) -> OwnerReference {
        OwnerReference::controller(&self.shared.resource.kind, self.key.name(), self.uid())
    }
}

fn regarding<W: AnyKind>(resource: &Resource, object: &W) -> Regarding {
    let meta = object.meta();
    let name = meta.name.as_deref().unwrap_or_default();
    let key = ObjectKey::new(meta.namespace.as_deref(), name);
    Regarding::new(
        &resource.kind,
        &key,
        meta.uid.as_deref().unwrap_or_default(),
    )
}

impl Shared {
    pub(super) fn own_target(&self) -> Target<'_> {
        Target {
            resource: &self.resource,
            store: self.views.store(&self.own, &self.resource),
        }
    }
}

impl<K> Clone for Context<K> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            key: self.key.clone(),
            object: Arc::clone(&self.object),
            run: self.run,
        }
    }
}

impl<K> fmt::Debug for Context<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}
