//! Reads and writes of a kind that is known only at run time.

use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use kube::core::DynamicObject;
use kubewright_core::Resource;
use kubewright_runtime::cache::List;
use kubewright_runtime::informer::Informer;

use super::apply::WrittenKind;
use super::{Apply, Context, Name};
use crate::Result;
use crate::kinds::{AnyKind, ViewId};

/// The objects of a kind that is known only at run time; from [`Context::of`].
pub struct Dynamic<'c, K> {
    cx: &'c Context<K>,
    resource: &'c Resource,
}

impl<K: AnyKind> Context<K> {
    /// Returns the objects of a kind that is known only at run time and registered by
    /// [`kind_of`](crate::kind_of), for reads and writes.
    pub fn of<'c>(&'c self, resource: &'c Resource) -> Dynamic<'c, K> {
        Dynamic { cx: self, resource }
    }
}

impl<'c, K: AnyKind> Dynamic<'c, K> {
    /// Like [`Context::list`].
    pub fn list(&self) -> Result<List<DynamicObject>> {
        Ok(self.cx.environment.views.view_of(self.resource)?.list())
    }

    /// Like [`Context::owned`].
    pub fn owned(&self) -> Result<List<DynamicObject>> {
        let view = self.cx.environment.views.view_of(self.resource)?;
        Ok(view.by_owner(self.cx.uid()))
    }

    /// Like [`Context::matching`].
    pub fn matching(&self, labels: &str) -> Result<List<DynamicObject>> {
        Ok(self
            .cx
            .environment
            .views
            .matching_of(self.resource, labels)?)
    }

    /// Like [`Context::by_index`].
    pub fn by_index(&self, name: &str, value: &str) -> Result<List<DynamicObject>> {
        let views = &self.cx.environment.views;
        Ok(views.by_index_of(self.resource, name, value)?)
    }

    /// Like [`Context::get`].
    pub fn get<'n>(&self, name: impl Into<Name<'n>>) -> Result<Option<Arc<DynamicObject>>> {
        let view = self.cx.environment.views.view_of(self.resource)?;
        let name = name.into();
        let key = name.key(self.resource.scope, self.cx.key.namespace());
        Ok(view.get(&key)?)
    }

    /// Like [`Context::informer`].
    pub fn informer(&self) -> Result<&'c Informer> {
        Ok(self.cx.environment.views.view_of(self.resource)?.informer())
    }

    /// Like [`Context::apply`]; the object's kind need not be set.
    pub fn apply(&self, object: &DynamicObject) -> Apply<DynamicObject> {
        self.cx.apply_to(self.written(), object)
    }

    /// Like [`Context::delete`].
    ///
    /// # Cancel safety
    ///
    /// Like [`Context::delete`].
    pub fn delete(&self, object: &DynamicObject) -> BoxFuture<'static, Result<()>> {
        self.cx.delete_from(self.written(), object)
    }

    fn written(&self) -> WrittenKind {
        WrittenKind {
            resource: self.resource.clone(),
            view: ViewId::Dynamic(self.resource.clone()),
        }
    }
}

impl<K> fmt::Debug for Dynamic<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dynamic")
            .field("resource", &self.resource)
            .finish_non_exhaustive()
    }
}
