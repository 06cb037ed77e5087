//! Indexes that a selection adds to the store of an informer.

use std::sync::Arc;

use kubewright_runtime::cache::View;

use super::AnyKind;

/// Returns the values under which an index finds an object.
type Values<K> = Arc<dyn Fn(&K) -> Vec<String> + Send + Sync>;

/// An index that a selection has.
pub(crate) enum SelectionIndex<K> {
    /// By labels. All users of the informer share it, and it lasts as long as one of them.
    Labels,
    /// By values that the user's function returns.
    Named(String, Values<K>),
}

impl<K> SelectionIndex<K> {
    /// Returns the name that the user gave it.
    pub(crate) fn name(&self) -> Option<&str> {
        match self {
            Self::Labels => None,
            Self::Named(name, _) => Some(name),
        }
    }
}

/// Adds the indexes of a controller, a webhook or a watch to the store behind the view.
pub(crate) fn add_indexes<W: AnyKind>(view: &View<W>, owner: &str, indexes: &[SelectionIndex<W>]) {
    for index in indexes {
        match index {
            SelectionIndex::Labels => view.informer().store().index_labels(),
            SelectionIndex::Named(name, values) => {
                let values = Arc::clone(values);
                view.add_index(&index_name(owner, name), move |object| values(object));
            }
        }
    }
}

/// Returns the name of an index in the store.
///
/// Informers are shared, so the name has that of the index's owner: no name of a controller and no
/// path of a webhook contains a colon.
pub(crate) fn index_name(owner: &str, name: &str) -> String {
    format!("{owner}:{name}")
}
