//! [`Context`]: reads from the cache, writes and events of one run.

use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use kube::Client;
use kubewright_core::{Clock, ObjectKey, OwnerReference, Resource};
use kubewright_runtime::cache::List;
use kubewright_runtime::controller::Run;
use kubewright_runtime::events::{Event, Regarding};
use kubewright_runtime::informer::Informer;
use kubewright_runtime::write::Target;
use serde::Serialize;

use super::apply::{Apply, WrittenKind};
use super::environment::ReconcileEnvironment;
use super::live::Live;
use super::name::Name;
use super::object::Object;
use crate::kinds::{AnyKind, TypedKind, ViewId, resource_of};
use crate::{Error, Result};

/// The context of one run of a reconcile function.
///
/// Reads come from the cache: they do not wait, and they include the operator's own writes. Reading
/// a kind that the controller has not registered is an error that names the line to add.
pub struct Context<K> {
    pub(super) environment: Arc<ReconcileEnvironment>,
    pub(super) key: ObjectKey,
    pub(super) object: Arc<K>,
    run: u64,
}

impl<K: AnyKind> Context<K> {
    pub(crate) fn new(environment: Arc<ReconcileEnvironment>, run: Run, object: Arc<K>) -> Self {
        Self {
            environment,
            key: run.key,
            object,
            run: run.id,
        }
    }

    /// Returns all objects of a kind, in all namespaces of the operator, ordered by key.
    pub fn list<W: TypedKind>(&self) -> Result<List<W>> {
        Ok(self.environment.views.view::<W>()?.list())
    }

    /// Returns the objects of a kind that have the reconciled object among their owners.
    pub fn owned<W: TypedKind>(&self) -> Result<List<W>> {
        let view = self.environment.views.view::<W>()?;
        Ok(view.by_owner(self.uid()))
    }

    /// Returns the objects of a kind whose labels match, such as `app=web,tier in (a, b)`, in all
    /// namespaces of the operator. Only these are decoded.
    ///
    /// For the objects of one namespace, filter the result or register an index by namespace
    /// ([`Selection::index`](crate::controller::Selection::index)).
    pub fn matching<W: TypedKind>(&self, labels: &str) -> Result<List<W>> {
        Ok(self.environment.views.matching(labels)?)
    }

    /// Returns the objects of a kind that have the value in an index of the kind's registration
    /// ([`Selection::index`](crate::controller::Selection::index)).
    pub fn by_index<W: TypedKind>(&self, name: &str, value: &str) -> Result<List<W>> {
        Ok(self.environment.views.by_index(name, value)?)
    }

    /// Returns an object: `cx.get::<ConfigMap>("settings")?` reads from the namespace of the
    /// reconciled object, `("namespace", "name")` or a key from any namespace.
    pub fn get<'n, W: TypedKind>(&self, name: impl Into<Name<'n>>) -> Result<Option<Arc<W>>> {
        let view = self.environment.views.view::<W>()?;
        let scope = view.informer().spec().resource.scope;
        let key = name.into().key(scope, self.key.namespace());
        Ok(view.get(&key)?)
    }

    /// Returns the informer behind the reads of a kind: its store, its state, its events.
    pub fn informer<W: TypedKind>(&self) -> Result<&Informer> {
        Ok(self.environment.views.view::<W>()?.informer())
    }

    /// Applies an object by server-side apply: only the fields that are set are written.
    ///
    /// The reconciled object becomes its owner, for which the kind must be registered by
    /// [`owns`](crate::Controller::owns). The namespace defaults to that of the reconciled object.
    /// Nothing is sent if the apply changes nothing. Build the object anew each time: an object
    /// that was read is an error. The status is not applied. The future returns the object after
    /// the apply.
    pub fn apply<O: Object<M>, M>(&self, object: &O) -> Apply<O::Kind> {
        let written = WrittenKind {
            resource: resource_of::<O::Kind>(),
            view: ViewId::of::<O::Kind>(),
        };
        self.apply_to(written, object.object())
    }

    pub(super) fn apply_to<W: AnyKind>(&self, written: WrittenKind, object: &W) -> Apply<W> {
        Apply::new(
            Arc::clone(&self.environment),
            written,
            object,
            self.key.namespace(),
            self.owner_reference(),
        )
    }

    /// Deletes an object that was read, with its uid as precondition: a later object of the same
    /// name stays.
    ///
    /// It is not an error if the object no longer exists.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the object may or may not have been deleted; a retry is safe.
    pub fn delete<O: Object<M>, M>(&self, object: &O) -> BoxFuture<'static, Result<()>> {
        let written = WrittenKind {
            resource: resource_of::<O::Kind>(),
            view: ViewId::of::<O::Kind>(),
        };
        self.delete_from(written, object.object())
    }

    pub(super) fn delete_from<W: AnyKind>(
        &self,
        written: WrittenKind,
        object: &W,
    ) -> BoxFuture<'static, Result<()>> {
        let meta = object.meta();
        let name = meta.name.clone().unwrap_or_default();
        let key = ObjectKey::new(meta.namespace.as_deref(), &name);
        let uid = meta.uid.clone();
        let environment = Arc::clone(&self.environment);
        Box::pin(async move {
            let uid = uid.ok_or_else(|| Error::Invalid {
                what: format!("delete {} {key}", written.resource.qualified_name()),
                why: "it has no uid; delete objects that were read, such as those of cx.list()",
            })?;
            let target = Target {
                resource: &written.resource,
                store: environment.views.store(&written.view, &written.resource),
            };
            Ok(environment.writer.delete(target, &key, &uid).await?)
        })
    }

    /// Applies fields of the reconciled object's status by server-side apply: for kinds without
    /// kube's `HasStatus`, such as the built-in ones.
    ///
    /// `status` is the value of `.status`. Fields that an earlier call set and this one does not
    /// are removed.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the status may or may not have been written; a retry is safe.
    pub fn apply_status(&self, status: &impl Serialize) -> BoxFuture<'static, Result<()>> {
        let status = serde_json::to_value(status);
        let (environment, key) = (Arc::clone(&self.environment), self.key.clone());
        Box::pin(async move {
            let target = environment.own_target();
            environment
                .writer
                .apply_status(target, &key, status?)
                .await?;
            Ok(())
        })
    }

    /// Records an event about the reconciled object; `kubectl describe` shows it.
    ///
    /// The call does not wait and does not fail. Repeated events become a series, and events beyond
    /// the rate limit of an object are dropped. The controller must be registered with
    /// [`events`](crate::Controller::events).
    pub fn event(&self, event: Event) {
        let regarding = Regarding::new(&self.environment.resource.kind, &self.key, self.uid());
        self.environment.events.record(regarding, event);
    }

    /// Records an event about another object that was read, such as an owned one.
    pub fn event_about<O: Object<M>, M>(&self, object: &O, event: Event) {
        let resource = resource_of::<O::Kind>();
        let regarding = regarding(&resource, object.object());
        self.environment.events.record(regarding, event);
    }

    /// Returns reads from the API server, past the cache.
    pub fn live(&self) -> Live {
        let namespaces = self.environment.namespaces.clone();
        Live::new(
            self.environment.client.clone(),
            self.key.namespace(),
            namespaces,
        )
    }

    /// Returns a client for other requests, limited to the operator's role.
    pub fn client(&self) -> &Client {
        &self.environment.client
    }

    /// Returns the clock of the process, which tests can set.
    pub fn clock(&self) -> &Clock {
        &self.environment.clock
    }

    /// Returns the namespace that the operator itself runs in: that of its Pod, `--namespace`, or
    /// `NAME-system`, as in its manifests. For objects that belong to no namespace of its users.
    pub fn own_namespace(&self) -> &str {
        &self.environment.own_namespace
    }

    /// Returns the number of this run, unique within the process; `reconcile_id` in the log.
    pub fn reconcile_id(&self) -> u64 {
        self.run
    }

    /// Returns the key of the reconciled object.
    pub fn key(&self) -> &ObjectKey {
        &self.key
    }

    pub(super) fn uid(&self) -> &str {
        self.object.meta().uid.as_deref().unwrap_or_default()
    }

    fn owner_reference(&self) -> OwnerReference {
        OwnerReference::controller(&self.environment.resource.kind, self.key.name(), self.uid())
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

impl<K> Clone for Context<K> {
    fn clone(&self) -> Self {
        Self {
            environment: Arc::clone(&self.environment),
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
