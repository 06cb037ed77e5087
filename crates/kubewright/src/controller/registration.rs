//! A kind that a controller registers: how it is used, read and mapped to keys.

use std::sync::Arc;
use std::time::Duration;

use kubewright_core::{Resource, Use};
use kubewright_runtime::cache::View;
use kubewright_runtime::controller::Mapper;
use kubewright_runtime::informer::{Content, Informer};
use kubewright_runtime::queue::Priority;

use crate::kinds::{AnyKind, AnyView, ObjectFilter, Selection, UnusedOption, ViewId};

/// A kind that the controller registers.
pub(super) struct Registration<K: AnyKind> {
    pub(super) resource: Resource,
    pub(super) usage: Use,
    pub(super) view: Option<RegisteredView>,
    pub(super) mapper: Option<MapperFactory<K>>,
    pub(super) priority: Priority,
    pub(super) debounce: Duration,
    /// An option of the selection that has no effect on this registration.
    pub(super) unused_option: Option<UnusedOption>,
}

/// The view of a kind, before its informer exists.
#[derive(Clone)]
pub(super) struct RegisteredView {
    pub(super) id: ViewId,
    pub(super) content: Content,
    pub(super) filter: ObjectFilter,
    pub(super) open: OpenView,
}

/// Opens a view of an informer's objects, with the indexes of the controller of that name.
type OpenView = Arc<dyn Fn(&str, Informer) -> AnyView + Send + Sync>;

/// Creates a mapper once the views of the controller's own kind and of the mapped kind exist.
pub(super) type MapperFactory<K> = Box<dyn FnOnce(&OwnKind<K>, &Informer) -> Mapper + Send>;

/// The controller's own kind, for mappers.
pub(super) struct OwnKind<K> {
    pub(super) resource: Resource,
    pub(super) informer: Informer,
    pub(super) view: View<K>,
}

impl<K: AnyKind> Registration<K> {
    /// Returns the registration of a kind that is read.
    pub(super) fn read<W: AnyKind>(
        selection: Selection<W>,
        usage: Use,
        mapper: Option<MapperFactory<K>>,
    ) -> Self {
        let unused_option = selection.needless_namespace();
        let indexes = selection.indexes;
        Self {
            resource: selection.resource,
            usage,
            view: Some(RegisteredView {
                id: selection.view,
                content: selection.content,
                filter: selection.filter,
                open: Arc::new(move |controller, informer| {
                    AnyView::indexed(controller, &indexes, informer)
                }),
            }),
            mapper,
            priority: selection.priority,
            debounce: selection.debounce,
            unused_option,
        }
    }
}
