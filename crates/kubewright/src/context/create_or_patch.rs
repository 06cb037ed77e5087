use kubewright_core::{ObjectKey, Scope};
use kubewright_runtime::write::{Target, WriteResult};

use super::{Context, Object};
use crate::controller::{AnyKind, ViewId, resource_of};
use crate::{Error, Result};

impl<K: AnyKind> Context<K> {
    /// Makes an object what `change` makes of it: of the one that is there, else of `object`, which
    /// is then created.
    ///
    /// For what depends on the object's present state; where it does not, [`apply`](Self::apply) is
    /// simpler, and sends nothing when nothing changed. The object is read past the cache, and only
    /// what `change` has changed is written, while the object is still the one that was read: when
    /// somebody else was first, `change` is called again with what is there then. What the type
    /// does not know stays as it is, also in the items of a list; a list is sent as a whole.
    ///
    /// The kind is registered by [`owns`](crate::Controller::owns), or by
    /// [`writes`](crate::Controller::writes) with get, create and patch. A status that `change`
    /// sets is written by a request of its own, which neither of them grants: add
    /// [`may`](crate::Controller::may) with a rule for patch of `PLURAL/status`.
    ///
    /// `object` needs a name; the reconciled object lends its namespace if none is set. Nobody
    /// becomes its owner unless `change` says so, by
    /// [`owner::set_controller`](crate::owner::set_controller).
    ///
    /// ```
    /// use kubewright::prelude::*;
    /// use kubewright::owner;
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
    /// Dropped before its end, the object may or may not have been written; trying again is safe.
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
        let lent = self.key.namespace();
        let lent = lent.filter(|_| resource.scope == Scope::Namespaced);
        let object = placed(object.object().clone(), lent);
        let view = ViewId::of::<O::Kind>();
        let target = Target {
            resource: &resource,
            store: self.shared.views.store(&view, &resource),
        };
        let writer = &self.shared.writer;
        Ok(writer.create_or_patch(target, &object, change).await?)
    }

    /// Changes an object that was read, which may belong to somebody else: only what `change` has
    /// changed is written, to that very object. None when it is gone.
    ///
    /// `change` is called with the object as it is now, read past the cache, and again when somebody
    /// else was first. The kind is registered by [`owns`](crate::Controller::owns), or by
    /// [`writes`](crate::Controller::writes) with get and patch; a status needs a rule of its own,
    /// as in [`create_or_patch`](Self::create_or_patch).
    ///
    /// `object` must have a uid. One without a namespace is looked for in that of the reconciled
    /// object.
    ///
    /// # Cancel safety
    ///
    /// As [`create_or_patch`](Self::create_or_patch).
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
        let uid = uid.ok_or_else(|| Error::Refused {
            what: format!("patch {} {key}", resource.qualified_name()),
            why: "it has no uid; patch objects that were read, such as those of cx.list()",
        })?;
        let view = ViewId::of::<O::Kind>();
        let target = Target {
            resource: &resource,
            store: self.shared.views.store(&view, &resource),
        };
        let writer = &self.shared.writer;
        Ok(writer.patch(target, &key, Some(&uid), change).await?)
    }

    /// Which object is meant; the reconciled one lends its namespace.
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

/// The object, in that namespace if it names none.
fn placed<W: AnyKind>(mut object: W, lent: Option<&str>) -> W {
    let namespace = &mut object.meta_mut().namespace;
    if namespace.is_none() {
        *namespace = lent.map(str::to_owned);
    }
    object
}
