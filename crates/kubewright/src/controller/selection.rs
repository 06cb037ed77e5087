use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use kube::core::DynamicObject;
use kubewright_core::Resource;
use kubewright_runtime::informer::Content;
use kubewright_runtime::queue::Priority;

use super::extent::Extent;
use super::indexes::Wanted;
use super::typed::ViewId;
use super::{AnyKind, Predicate, TypedKind, resource_of};

/// An option of a selection that has no effect, and on what it has none.
pub(crate) type UnusedOption = (&'static str, &'static str);

/// A kind and which of its objects and changes are meant; `kind::<Metadata<Pod>>()` is only the
/// metadata, for which the API server is asked for no more.
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

/// A kind of whose objects only the fields of `P` are read, a struct of the user's own: an informer
/// that nobody wants more of keeps no others.
///
/// kube's derive says which kind it is a part of, and asks for the metadata. Fields that are not
/// always there are `Option`s.
///
/// What a controller applies is of the kind's own type, as ever. Who applies many objects reads
/// them whole: by a part it cannot be seen that nothing is to be done.
///
/// ```
/// use kubewright::kube;
/// use kubewright::prelude::*;
/// use kubewright::controller::projection;
///
/// /// Of a Pod, where it runs.
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

/// A kind that is known only when the program runs; its objects are read as
/// [`DynamicObject`](kube::core::DynamicObject)s, by [`Context::of`](crate::Context::of).
///
/// ```
/// use kubewright::prelude::*;
/// use kubewright::kind_of;
/// use kubewright::{Kind, Resource, Scope};
///
/// let backups = Resource::new(Kind::new("ex.io", "v1", "Backup"), "backups", Scope::Namespaced);
/// let daily = kind_of(backups).labels("schedule=daily");
/// ```
pub fn kind_of(resource: Resource) -> Selection<DynamicObject> {
    let view = ViewId::Dynamic(resource.clone());
    Selection::new(resource, view, Content::Whole)
}

/// What [`kind`], [`projection`] and [`kind_of`] make: one value that `owns`, `watches`, `reads`,
/// `writes` and `select` take.
pub struct Selection<K> {
    pub(crate) resource: Resource,
    pub(crate) view: ViewId,
    pub(crate) content: Content,
    pub(crate) extent: Extent,
    pub(crate) predicate: Option<Predicate<K>>,
    pub(crate) indexes: Vec<Wanted<K>>,
    pub(crate) priority: Priority,
    pub(crate) debounce: Duration,
}

impl<K: AnyKind> Selection<K> {
    fn new(resource: Resource, view: ViewId, content: Content) -> Self {
        Self {
            resource,
            view,
            content,
            extent: Extent::default(),
            predicate: None,
            indexes: Vec::new(),
            priority: Priority::NORMAL,
            debounce: Duration::ZERO,
        }
    }

    /// Only objects whose labels match, such as `app=web,tier in (a, b)`.
    ///
    /// A selector that does not parse is an error when the operator starts.
    #[must_use]
    pub fn labels(mut self, selector: impl Into<String>) -> Self {
        self.extent.labels = Some(selector.into());
        self
    }

    /// Only objects whose fields match, such as `spec.nodeName=n1,status.phase!=Failed`.
    ///
    /// The API server selects by few fields: of a custom resource by those that its definition
    /// names (`#[kube(selectable = "..")]`), and by name and namespace. A selector that does not
    /// parse is an error when the operator starts.
    #[must_use]
    pub fn fields(mut self, selector: impl Into<String>) -> Self {
        self.extent.fields = Some(selector.into());
        self
    }

    /// Only objects of this namespace. An operator that is restricted to some namespaces must
    /// have it among them.
    #[must_use]
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.extent.namespace = Some(namespace.into());
        self
    }

    /// Keeps the objects at hand under values of their own, for
    /// [`Context::by_index`](crate::Context::by_index) and its siblings of
    /// [`Admission`](crate::webhook::Admission::by_index) and [`Watch`](crate::context::Watch::by_index): a lookup
    /// then does not walk all of them.
    ///
    /// The values must follow from the object alone. An object for which the function panics is
    /// logged and found under none. The controller's own kind gets an index by
    /// [`select`](crate::Controller::select), or by [`reads`](crate::Controller::reads).
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
            .push(Wanted::Named(name.into(), Arc::new(values)));
        self
    }

    /// Keeps the objects at hand under each of their labels: [`Context::matching`] with a selector
    /// that asks for a value, such as `app=web`, then does not walk all of them.
    ///
    /// [`Context::matching`]: crate::Context::matching
    #[must_use]
    pub fn index_labels(mut self) -> Self {
        self.indexes.push(Wanted::Labels);
        self
    }

    /// How urgent what its changes wake is; higher comes first, and 0 is usual.
    #[must_use]
    pub fn priority(mut self, priority: Priority) -> Self {
        self.priority = priority;
        self
    }

    /// Lets what its changes wake wait so long for more of them: many that come close together
    /// cause one run, which sees them all. A change of the reconciled object itself, and of any
    /// other kind, wakes at once.
    ///
    /// For objects of which one counts thousands, such as the Pods of a roll-out.
    #[must_use]
    pub fn debounce(mut self, time: Duration) -> Self {
        self.debounce = time;
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

    /// An option that has no effect on who only reads the kind, and why.
    pub(crate) fn unused_by_a_reader(&self) -> Option<UnusedOption> {
        const WAKES_NOBODY: &str = ".reads(..), which wakes nobody";
        if self.priority != Priority::NORMAL {
            return Some((".priority(..)", WAKES_NOBODY));
        }
        if !self.debounce.is_zero() {
            return Some((".debounce(..)", WAKES_NOBODY));
        }
        if self.predicate.is_some() {
            return Some((".when(..)", WAKES_NOBODY));
        }
        self.misplaced()
    }

    /// A namespace that is named for a kind that is in none.
    pub(crate) fn misplaced(&self) -> Option<UnusedOption> {
        let is_misplaced = self.extent.is_misplaced(&self.resource);
        is_misplaced.then_some((".namespace(..)", "a kind that is in none"))
    }
}

impl<K> fmt::Debug for Selection<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Selection")
            .field("resource", &self.resource)
            .field("extent", &self.extent)
            .field("predicate", &self.predicate)
            .field("priority", &self.priority)
            .finish_non_exhaustive()
    }
}
