use std::fmt;
use std::sync::Arc;

use kube::core::DynamicObject;
use kubewright_core::{ObjectKey, Operation, Resource};
use kubewright_runtime::cache::List;
use kubewright_webhook::review::{AdmissionRequest, UserInfo};
use parking_lot::Mutex;
use serde_json::Value;

use super::Denied;
use super::serving::Reads;
use crate::controller::TypedKind;

/// The request that a webhook is asked about, and what it may look at.
#[derive(Clone)]
pub struct Admission {
    request: Arc<AdmissionRequest>,
    reads: Reads,
    warnings: Arc<Mutex<Vec<String>>>,
}

impl Admission {
    pub(super) fn new(request: Arc<AdmissionRequest>, reads: Reads) -> Self {
        Self {
            request,
            reads,
            warnings: Arc::default(),
        }
    }

    /// What is done.
    pub fn operation(&self) -> Operation {
        self.request.operation
    }

    /// The object's namespace; objects under way do not always carry it. Empty for kinds that
    /// live in none.
    pub fn namespace(&self) -> &str {
        &self.request.namespace
    }

    /// The object's name; empty while it is still to be generated.
    pub fn name(&self) -> &str {
        &self.request.name
    }

    /// Who asks for it.
    pub fn user(&self) -> &UserInfo {
        &self.request.user_info
    }

    /// Whether nothing will be stored: then nothing else may be changed either.
    pub fn is_dry_run(&self) -> bool {
        self.request.is_dry_run()
    }

    /// The object as it was sent, with all that its type does not know.
    pub fn raw(&self) -> &Value {
        &self.request.object
    }

    /// The object as it is, with all that its type does not know; none when it is not there yet.
    pub fn old(&self) -> Option<&Value> {
        let old = &self.request.old_object;
        Some(old).filter(|old| !old.is_null())
    }

    /// The part of the object that is meant, such as `status`; empty for the object itself.
    pub fn part(&self) -> &str {
        &self.request.sub_resource
    }

    /// The options of the request, such as a `DeleteOptions`; null when it has none.
    pub fn options(&self) -> &Value {
        &self.request.options
    }

    /// Tells the client something besides the answer.
    pub fn warn(&self, text: impl Into<String>) {
        self.warnings.lock().push(text.into());
    }

    /// The objects of a kind that the webhook reads: [`Webhook::reads`](super::Webhook::reads).
    pub fn list<K: TypedKind>(&self) -> Result<List<K>, Denied> {
        Ok(self.reads.views().view::<K>()?.list())
    }

    /// One object of a kind that the webhook reads.
    pub fn get<K: TypedKind>(&self, key: &ObjectKey) -> Result<Option<Arc<K>>, Denied> {
        Ok(self.reads.views().view::<K>()?.get(key)?)
    }

    /// The objects of a kind that have the value in an index, which the registration names:
    /// `.reads(kind::<Pod>().index("node", ..))`.
    pub fn by_index<K: TypedKind>(&self, name: &str, value: &str) -> Result<List<K>, Denied> {
        Ok(self.reads.views().by_index(name, value)?)
    }

    /// The objects of a kind that is known only when the program runs and that the webhook reads:
    /// `.reads(kind_of(resource))`.
    pub fn list_of(&self, resource: &Resource) -> Result<List<DynamicObject>, Denied> {
        Ok(self.reads.views().view_of(resource)?.list())
    }

    /// One object of such a kind.
    pub fn get_of(
        &self,
        resource: &Resource,
        key: &ObjectKey,
    ) -> Result<Option<Arc<DynamicObject>>, Denied> {
        Ok(self.reads.views().view_of(resource)?.get(key)?)
    }

    /// As [`by_index`](Self::by_index), of such a kind.
    pub fn by_index_of(
        &self,
        resource: &Resource,
        name: &str,
        value: &str,
    ) -> Result<List<DynamicObject>, Denied> {
        Ok(self.reads.views().by_index_of(resource, name, value)?)
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
