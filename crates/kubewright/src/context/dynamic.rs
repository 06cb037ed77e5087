use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use kube::core::DynamicObject;
use kubewright_core::Resource;
use kubewright_runtime::cache::List;
use kubewright_runtime::informer::Informer;

use super::apply::Written;
use super::{Apply, Context, Name};
use crate::Result;
use crate::controller::{AnyKind, ViewId};

/// The objects of a kind that is known only at run time; made by [`Context::of`].
pub struct Dynamic<'c, K> {
    cx: &'c Context<K>,
    resource: &'c Resource,
}

impl<'c, K: AnyKind> Dynamic<'c, K> {
    pub(super) fn new(cx: &'c Context<K>, resource: &'c Resource) -> Self {
        Self { cx, resource }
    }

    /// As [`Context::list`].
    pub fn list(&self) -> Result<List<DynamicObject>> {
        Ok(self.cx.shared.views.view_of(self.resource)?.list())
    }

    /// As [`Context::owned`].
    pub fn owned(&self) -> Result<List<DynamicObject>> {
        let view = self.cx.shared.views.view_of(self.resource)?;
        Ok(view.by_owner(self.cx.uid()))
    }

    /// As [`Context::matching`].
    pub fn matching(&self, labels: &str) -> Result<List<DynamicObject>> {
        Ok(self.cx.shared.views.matching_of(self.resource, labels)?)
    }

    /// As [`Context::by_index`].
    pub fn by_index(&self, name: &str, value: &str) -> Result<List<DynamicObject>> {
        let views = &self.cx.shared.views;
        Ok(views.by_index_of(self.resource, name, value)?)
    }

    /// As [`Context::get`].
    pub fn get<'n>(&self, name: impl Into<Name<'n>>) -> Result<Option<Arc<DynamicObject>>> {
        let view = self.cx.shared.views.view_of(self.resource)?;
        let key = name.into();
        let key = key.key(self.resource.scope, self.cx.key.namespace());
        Ok(view.get(&key)?)
    }

    /// As [`Context::informer`].
    pub fn informer(&self) -> Result<&'c Informer> {
        Ok(self.cx.shared.views.view_of(self.resource)?.informer())
    }

    /// As [`Context::apply`]; the object's kind need not be set.
    pub fn apply(&self, object: &DynamicObject) -> Apply<DynamicObject> {
        self.cx.apply_to(self.written(), object)
    }

    /// As [`Context::delete`].
    ///
    /// # Cancel safety
    ///
    /// As [`Context::delete`].
    pub fn delete(&self, object: &DynamicObject) -> BoxFuture<'static, Result<()>> {
        self.cx.delete_from(self.written(), object)
    }

    fn written(&self) -> Written {
        Written {
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
