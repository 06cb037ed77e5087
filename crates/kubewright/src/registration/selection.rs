use std::fmt;

use kube::core::DynamicObject;
use kubewright_core::Resource;
use kubewright_runtime::informer::Content;

use super::typed::ViewId;
use super::{AnyKind, Predicate, TypedKind, resource_of};

/// A kind and which of its objects and changes are meant; `kind::<Metadata<Pod>>()` is only the
/// metadata, for which the API server is asked for no more.
///
/// ```
/// use kubewright::prelude::*;
///
/// let web = kind::<Pod>().labels("app=web").when(changed::labels());
/// ```
pub fn kind<K: TypedKind>() -> Selection<K> {
    Selection {
        resource: resource_of::<K>(),
        view: ViewId::of::<K>(),
        // The type of a whole kind may lack fields that newer servers send; they are kept.
        content: Content::of_kind::<K>(),
        labels: None,
        predicate: None,
    }
}

/// A kind that is known only when the program runs; its objects are read as
/// [`DynamicObject`](kube::core::DynamicObject)s, by [`Context::of`](crate::Context::of).
///
/// ```
/// use kubewright::prelude::*;
/// use kubewright::{Kind, Resource, Scope};
///
/// let backups = Resource::new(Kind::new("ex.io", "v1", "Backup"), "backups", Scope::Namespaced);
/// let daily = kind_of(backups).labels("schedule=daily");
/// ```
pub fn kind_of(resource: Resource) -> Selection<DynamicObject> {
    Selection {
        view: ViewId::Dynamic(resource.clone()),
        resource,
        content: Content::Whole,
        labels: None,
        predicate: None,
    }
}

/// What [`kind`] and [`kind_of`] make: one value that `owns`, `watches`, `reads` and `writes`
/// take.
pub struct Selection<K> {
    pub(crate) resource: Resource,
    pub(crate) view: ViewId,
    pub(crate) content: Content,
    pub(crate) labels: Option<String>,
    pub(crate) predicate: Option<Predicate<K>>,
}

impl<K: AnyKind> Selection<K> {
    /// Only objects whose labels match, such as `app=web,tier in (a, b)`.
    ///
    /// A selector that does not parse is an error when the operator starts.
    #[must_use]
    pub fn labels(mut self, selector: impl Into<String>) -> Self {
        self.labels = Some(selector.into());
        self
    }

    /// Only changes that matter; creation and deletion always do.
    #[must_use]
    pub fn when(mut self, predicate: Predicate<K>) -> Self {
        self.predicate = Some(match self.predicate {
            Some(former) => former.and(predicate),
            None => predicate,
        });
        self
    }
}

impl<K> fmt::Debug for Selection<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Selection")
            .field("resource", &self.resource)
            .field("labels", &self.labels)
            .field("predicate", &self.predicate)
            .finish()
    }
}
