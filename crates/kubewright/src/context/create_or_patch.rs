//! Read-modify-write of an object: create or patch.

use kubewright_core::{ObjectKey, Scope};
use kubewright_runtime::write::{Target, WriteResult};

use super::{Context, Object};
use crate::kinds::{AnyKind, ViewId, resource_of};
use crate::{Error, Result};

impl<K: AnyKind> Context<K> {
    /// Calls `change` with the existing object and patches it, or with `object` and creates that.
    ///
    /// For changes that depend on the current state of the object; for others
    /// [`apply`](Self::apply) is simpler, and sends nothing without a change. The object is read
    /// past the cache. Only the fields that `change` changed are written, and only if the object is
    /// still in the state that was read: on a conflict `change` is called again with the new state.
    /// Fields that the type lacks are preserved, also in the items of a list; a list is sent whole.
    ///
    /// The kind is registered by [`owns`](crate::Controller::owns), or by
    /// [`writes`](crate::Controller::writes) with get, create and patch. A status that `change`
    /// sets is written by a second request, which neither of them grants: add
    /// [`grants`](crate::Controller::grants) with a rule for patch of `PLURAL/status`.
    ///
    /// `object` needs a name; its namespace defaults to that of the reconciled object. It gets no
    /// owner unless `change` sets one by
    /// [`owner::set_controller`](crate::owner::set_controller).
    ///
    /// ```
    /// use kubewright::owner;
    /// use kubewright::prelude::*;
    ///
    /// async fn reconcile(site: Arc<ConfigMap>, cx: Context<ConfigMap>) -> Result<Outcome> {
    ///     let metadata = ObjectMeta { name: Some("visits".to_owned()), ..ObjectMeta::default() };
    ///     let visits = Secret { metadata, ..Secret::default() };
    ///     cx.create_or_patch(&visits, |visits| {
    ///         owner::set_controller(&*site, visits)?;
    ///         let data = visits.data.get_or_insert_default();
    ///         data.entry("first".to_owned()).or_default();
    ///         Ok(())
    ///     })
    ///     .await?;
    ///     Ok(Outcome::done())
    /// }
    /// # let _ = Controller::new(reconcile);
    /// ```
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the object may or may not have been written; a retry is safe.
    pub async fn create_or_patch<O, M, F>(
        &self,
        object: &O,
        change: F,
    ) -> Result<(O::Kind, WriteResult)>
    where
        O: Object<M>,
        F: Fn(&mut O::Kind) -> Result<(), Box<dyn std::error::Error + Send + Sync>>,
    {
        let resource = resource_of::<O::Kind>();
        let namespace = match resource.scope {
            Scope::Namespaced => self.key.namespace(),
            Scope::Cluster => None,
        };
        let object = with_namespace(object.object().clone(), namespace);
        let view = ViewId::of::<O::Kind>();
        let target = Target {
            resource: &resource,
            store: self.environment.views.store(&view, &resource),
        };
        let writer = &self.environment.writer;
        Ok(writer.create_or_patch(target, &object, change).await?)
    }

    /// Patches an object that was read and that another owner may have: only the fields that
    /// `change` changed are written, and only to the object with that uid. Returns `None` if it no
    /// longer exists.
    ///
    /// `change` is called with the current state of the object, read past the cache, and again on a
    /// conflict. The kind is registered by [`owns`](crate::Controller::owns), or by
    /// [`writes`](crate::Controller::writes) with get and patch; a status needs a rule, as in
    /// [`create_or_patch`](Self::create_or_patch).
    ///
    /// `object` must have a uid. Its namespace defaults to that of the reconciled object.
    ///
    /// # Cancel safety
    ///
    /// Like [`create_or_patch`](Self::create_or_patch).
    pub async fn patch<O, M, F>(
        &self,
        object: &O,
        change: F,
    ) -> Result<Option<(O::Kind, WriteResult)>>
    where
        O: Object<M>,
        F: Fn(&mut O::Kind) -> Result<(), Box<dyn std::error::Error + Send + Sync>>,
    {
        let resource = resource_of::<O::Kind>();
        let (key, uid) = self.identity(object.object(), resource.scope);
        let uid = uid.ok_or_else(|| Error::Invalid {
            what: format!("patch {} {key}", resource.qualified_name()),
            why: "it has no uid; patch objects that were read, such as those of cx.list()",
        })?;
        let view = ViewId::of::<O::Kind>();
        let target = Target {
            resource: &resource,
            store: self.environment.views.store(&view, &resource),
        };
        let writer = &self.environment.writer;
        Ok(writer.patch(target, &key, Some(&uid), change).await?)
    }

    /// Returns the key and uid of an object. Its namespace defaults to that of the reconciled
    /// object.
    fn identity<W: AnyKind>(&self, object: &W, scope: Scope) -> (ObjectKey, Option<String>) {
        let meta = object.meta();
        let name = meta.name.as_deref().unwrap_or_default();
        let key = match scope {
            Scope::Cluster => ObjectKey::cluster_scoped(name),
            Scope::Namespaced => {
                let namespace = meta.namespace.as_deref().or(self.key.namespace());
                ObjectKey::new(namespace, name)
            }
        };
        (key, meta.uid.clone().filter(|uid| !uid.is_empty()))
    }
}

/// Returns the object with that namespace if it has none.
fn with_namespace<W: AnyKind>(mut object: W, default: Option<&str>) -> W {
    let namespace = &mut object.meta_mut().namespace;
    if namespace.is_none() {
        *namespace = default.map(str::to_owned);
    }
    object
}
