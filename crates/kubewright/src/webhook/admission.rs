//! The context of a webhook's function: the request, and the kinds that it reads from the cache.

use std::fmt;
use std::sync::Arc;

use kube::core::DynamicObject;
use kubewright_core::{ObjectKey, Operation, Resource};
use kubewright_runtime::cache::List;
use kubewright_webhook::review::{AdmissionRequest, UserInfo};
use parking_lot::Mutex;
use serde_json::Value;

use super::denied::Denied;
use super::environment::HandlerEnvironment;
use crate::kinds::TypedKind;

/// The context of one admission request.
#[derive(Clone)]
pub struct Admission {
    request: Arc<AdmissionRequest>,
    environment: HandlerEnvironment,
    warnings: Arc<Mutex<Vec<String>>>,
}

impl Admission {
    pub(super) fn new(request: Arc<AdmissionRequest>, environment: HandlerEnvironment) -> Self {
        Self {
            request,
            environment,
            warnings: Arc::default(),
        }
    }

    /// Returns the operation.
    pub fn operation(&self) -> Operation {
        self.request.operation
    }

    /// Returns the namespace of the object, which the object itself may lack. Empty for
    /// cluster-scoped kinds.
    pub fn namespace(&self) -> &str {
        &self.request.namespace
    }

    /// Returns the name of the object. Empty if the API server has not generated it yet.
    pub fn name(&self) -> &str {
        &self.request.name
    }

    /// Returns the user who sent the request.
    pub fn user(&self) -> &UserInfo {
        &self.request.user_info
    }

    /// Whether the request is a dry run, which stores nothing. The function must then have no side
    /// effects.
    pub fn is_dry_run(&self) -> bool {
        self.request.is_dry_run()
    }

    /// Returns the object that was sent, with the fields that its type lacks.
    pub fn raw(&self) -> &Value {
        &self.request.object
    }

    /// Returns the stored object, with the fields that its type lacks, or `None` on create.
    pub fn old(&self) -> Option<&Value> {
        let old = &self.request.old_object;
        Some(old).filter(|old| !old.is_null())
    }

    /// Returns the subresource, such as `status`. Empty for the object itself.
    pub fn subresource(&self) -> &str {
        &self.request.sub_resource
    }

    /// Returns the options of the request, such as a `DeleteOptions`, or null.
    pub fn options(&self) -> &Value {
        &self.request.options
    }

    /// Adds a warning to the response, which clients show.
    pub fn warn(&self, text: impl Into<String>) {
        self.warnings.lock().push(text.into());
    }

    /// Returns the objects of a kind that the webhook reads:
    /// [`Webhook::reads`](super::Webhook::reads).
    pub fn list<K: TypedKind>(&self) -> Result<List<K>, Denied> {
        Ok(self.environment.views().view::<K>()?.list())
    }

    /// Returns an object of a kind that the webhook reads, or `None` if it does not exist.
    pub fn get<K: TypedKind>(&self, key: &ObjectKey) -> Result<Option<Arc<K>>, Denied> {
        Ok(self.environment.views().view::<K>()?.get(key)?)
    }

    /// Returns the objects of a kind that have the value in an index of the registration:
    /// `.reads(kind::<Pod>().index("node", ..))`.
    pub fn by_index<K: TypedKind>(&self, name: &str, value: &str) -> Result<List<K>, Denied> {
        Ok(self.environment.views().by_index(name, value)?)
    }

    /// Like [`list`](Self::list), for a kind that is known only at run time:
    /// `.reads(kind_of(resource))`.
    pub fn list_of(&self, resource: &Resource) -> Result<List<DynamicObject>, Denied> {
        Ok(self.environment.views().view_of(resource)?.list())
    }

    /// Like [`get`](Self::get), for a kind that is known only at run time.
    pub fn get_of(
        &self,
        resource: &Resource,
        key: &ObjectKey,
    ) -> Result<Option<Arc<DynamicObject>>, Denied> {
        Ok(self.environment.views().view_of(resource)?.get(key)?)
    }

    /// Like [`by_index`](Self::by_index), for a kind that is known only at run time.
    pub fn by_index_of(
        &self,
        resource: &Resource,
        name: &str,
        value: &str,
    ) -> Result<List<DynamicObject>, Denied> {
        Ok(self
            .environment
            .views()
            .by_index_of(resource, name, value)?)
    }

    pub(super) fn take_warnings(&self) -> Vec<String> {
        std::mem::take(&mut self.warnings.lock())
    }
}

impl fmt::Debug for Admission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Admission")
            .field("operation", &self.operation())
            .field("namespace", &self.namespace())
            .field("name", &self.name())
            .finish_non_exhaustive()
    }
}
