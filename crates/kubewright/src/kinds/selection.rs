//! Selections: a kind, and which of its objects and changes a registration uses.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use kube::core::DynamicObject;
use kubewright_core::Resource;
use kubewright_runtime::informer::Content;
use kubewright_runtime::queue::Priority;

use super::{AnyKind, ObjectFilter, Predicate, SelectionIndex, TypedKind, ViewId, resource_of};

/// An option of a selection that has no effect on a registration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UnusedOption {
    pub(crate) option: &'static str,
    pub(crate) registration: &'static str,
}

/// Selects the objects of a kind.
///
/// `kind::<Metadata<Pod>>()` selects their metadata; the API server sends no more.
///
/// ```
/// use kubewright::prelude::*;
///
/// let web = kind::<Pod>().labels("app=web").when(changed::labels());
/// ```
pub fn kind<K: TypedKind>() -> Selection<K> {
    // The type of a whole kind may lack fields that newer servers send; they are kept.
    let content = Content::of_kind::<K>();
    Selection::new(resource_of::<K>(), ViewId::of::<K>(), content)
}

/// Selects the fields of `P`, a struct of the user, of the objects of a kind. The informer keeps no
/// other fields, unless another of its users needs them.
///
/// kube's derive names the kind and requires the metadata. Fields that an object may lack are
/// `Option`s.
///
/// A controller still applies objects of the whole type. A controller that applies many objects
/// reads them whole: from a projection it cannot see that an object needs no write.
///
/// ```
/// use kubewright::controller::projection;
/// use kubewright::kube;
/// use kubewright::prelude::*;
///
/// /// The node of a Pod.
/// #[derive(kube::Resource, Clone, Debug, Serialize, Deserialize)]
/// #[resource(inherit = "Pod")]
/// struct Placed {
///     metadata: ObjectMeta,
///     spec: Placement,
/// }
///
/// #[derive(Clone, Debug, Serialize, Deserialize)]
/// #[serde(rename_all = "camelCase")]
/// struct Placement {
///     node_name: Option<String>,
/// }
///
/// let placed = projection::<Placed>().labels("app=web");
/// ```
pub fn projection<P: TypedKind>() -> Selection<P> {
    Selection::new(resource_of::<P>(), ViewId::of::<P>(), Content::of::<P>())
}

/// Selects the objects of a kind that is known only at run time. They are read as
/// [`DynamicObject`](kube::core::DynamicObject)s, by [`Context::of`](crate::Context::of).
///
/// ```
/// use kubewright::{Kind, Resource, Scope, kind_of};
///
/// let backups = Resource::new(Kind::new("ex.io", "v1", "Backup"), "backups", Scope::Namespaced);
/// let daily = kind_of(backups).labels("schedule=daily");
/// ```
pub fn kind_of(resource: Resource) -> Selection<DynamicObject> {
    let view = ViewId::Dynamic(resource.clone());
    Selection::new(resource, view, Content::Whole)
}

/// The objects of a kind that a registration uses, from [`kind`], [`projection`] or [`kind_of`]:
/// the argument of `owns`, `watches`, `reads`, `writes` and `select`.
pub struct Selection<K> {
    pub(crate) resource: Resource,
    pub(crate) view: ViewId,
    pub(crate) content: Content,
    pub(crate) filter: ObjectFilter,
    pub(crate) predicate: Option<Predicate<K>>,
    pub(crate) indexes: Vec<SelectionIndex<K>>,
    pub(crate) priority: Priority,
    pub(crate) debounce: Duration,
}

impl<K: AnyKind> Selection<K> {
    fn new(resource: Resource, view: ViewId, content: Content) -> Self {
        Self {
            resource,
            view,
            content,
            filter: ObjectFilter::default(),
            predicate: None,
            indexes: Vec::new(),
            priority: Priority::NORMAL,
            debounce: Duration::ZERO,
        }
    }

    /// Selects objects by labels, such as `app=web,tier in (a, b)`.
    ///
    /// A selector that does not parse is an error when the operator starts.
    #[must_use]
    pub fn labels(mut self, selector: impl Into<String>) -> Self {
        self.filter.labels = Some(selector.into());
        self
    }

    /// Selects objects by fields, such as `spec.nodeName=n1,status.phase!=Failed`.
    ///
    /// The API server supports few fields: of a custom resource those that its definition lists
    /// (`#[kube(selectable = "..")]`), and name and namespace. A selector that does not parse is an
    /// error when the operator starts.
    #[must_use]
    pub fn fields(mut self, selector: impl Into<String>) -> Self {
        self.filter.fields = Some(selector.into());
        self
    }

    /// Selects the objects of one namespace. An operator that is restricted to some namespaces must
    /// have it among them. The role permits the kind in all namespaces of the operator.
    #[must_use]
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.filter.namespace = Some(namespace.into());
        self
    }

    /// Indexes the objects by values, for [`Context::by_index`](crate::Context::by_index),
    /// [`Admission::by_index`](crate::webhook::Admission::by_index) and
    /// [`Watch::by_index`](crate::context::Watch::by_index): a lookup then does not iterate over
    /// all objects.
    ///
    /// The values must follow from the object alone. If the function panics for an object, that is
    /// logged and the object has no values. The controller's own kind gets an index by
    /// [`select`](crate::Controller::select) or [`reads`](crate::Controller::reads).
    ///
    /// ```
    /// use kubewright::prelude::*;
    ///
    /// let pods = kind::<Pod>().index("node", |pod| {
    ///     let node = pod.spec.as_ref().and_then(|spec| spec.node_name.clone());
    ///     node.into_iter().collect()
    /// });
    /// ```
    #[must_use]
    pub fn index(
        mut self,
        name: impl Into<String>,
        values: impl Fn(&K) -> Vec<String> + Send + Sync + 'static,
    ) -> Self {
        self.indexes
            .push(SelectionIndex::Named(name.into(), Arc::new(values)));
        self
    }

    /// Indexes the objects by their labels: [`Context::matching`] with a selector that requires a
    /// value, such as `app=web`, then does not iterate over all objects.
    ///
    /// [`Context::matching`]: crate::Context::matching
    #[must_use]
    pub fn index_labels(mut self) -> Self {
        self.indexes.push(SelectionIndex::Labels);
        self
    }

    /// Sets the priority of the keys that changes of these objects enqueue. Higher values come
    /// first; the default is 0.
    #[must_use]
    pub fn priority(mut self, priority: Priority) -> Self {
        self.priority = priority;
        self
    }

    /// Delays keys that changes of these objects enqueue, so that several changes in a short time
    /// cause one run, which sees them all. A change of the reconciled object, or of another kind,
    /// is not delayed.
    ///
    /// For kinds with thousands of objects per key, such as the Pods of a roll-out.
    #[must_use]
    pub fn debounce(mut self, time: Duration) -> Self {
        self.debounce = time;
        self
    }

    /// Filters changes. Creation and deletion pass unless the predicate is one of
    /// [`only`](super::only).
    #[must_use]
    pub fn when(mut self, predicate: Predicate<K>) -> Self {
        self.predicate = Some(match self.predicate {
            Some(previous) => previous.and(predicate),
            None => predicate,
        });
        self
    }

    /// Returns an option that has no effect on a registration that only reads the kind.
    pub(crate) fn unused_by_reads(&self) -> Option<UnusedOption> {
        let unused = |option| {
            Some(UnusedOption {
                option,
                registration: ".reads(..), which enqueues nothing",
            })
        };
        if self.priority != Priority::NORMAL {
            return unused(".priority(..)");
        }
        if !self.debounce.is_zero() {
            return unused(".debounce(..)");
        }
        if self.predicate.is_some() {
            return unused(".when(..)");
        }
        self.needless_namespace()
    }

    /// Returns an option that has no effect on a registration that only writes the kind.
    pub(crate) fn unused_by_writes(&self) -> Option<UnusedOption> {
        let is_used = self.predicate.is_some()
            || !self.filter.is_everything()
            || !self.indexes.is_empty()
            || self.priority != Priority::NORMAL
            || !self.debounce.is_zero();
        is_used.then_some(UnusedOption {
            option: "a selection",
            registration: ".writes(..), which reads nothing",
        })
    }

    /// Returns the namespace option if the kind is cluster-scoped.
    pub(crate) fn needless_namespace(&self) -> Option<UnusedOption> {
        self.filter
            .has_needless_namespace(&self.resource)
            .then_some(UnusedOption {
                option: ".namespace(..)",
                registration: "a cluster-scoped kind",
            })
    }
}

impl<K> fmt::Debug for Selection<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Selection")
            .field("resource", &self.resource)
            .field("filter", &self.filter)
            .field("predicate", &self.predicate)
            .field("priority", &self.priority)
            .finish_non_exhaustive()
    }
}
