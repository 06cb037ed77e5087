use std::sync::Arc;

use kubewright_runtime::cache::View;

use super::AnyKind;

/// The values under which an index finds an object.
type Values<K> = Arc<dyn Fn(&K) -> Vec<String> + Send + Sync>;

/// An index that a selection asks for.
pub(crate) enum Wanted<K> {
    /// By labels: one for all users of the informer, and as long as there is any.
    Labels,
    /// By values of the user's own.
    Named(String, Values<K>),
}

impl<K> Wanted<K> {
    /// The name that its user gave it.
    pub(crate) fn name(&self) -> Option<&str> {
        match self {
            Self::Labels => None,
            Self::Named(name, _) => Some(name),
        }
    }
}

/// Adds the indexes of a controller, a webhook or a watch to the store behind the view.
pub(crate) fn add_indexes<W: AnyKind>(view: &View<W>, owner: &str, indexes: &[Wanted<W>]) {
    for index in indexes {
        match index {
            Wanted::Labels => view.informer().store().index_labels(),
            Wanted::Named(name, values) => {
                let values = Arc::clone(values);
                view.add_index(&index_name(owner, name), move |object| values(object));
            }
        }
    }
}

/// Informers are shared: each of their users has its own indexes all the same. No name of a
/// controller and no path of a webhook has a colon.
pub(crate) fn index_name(owner: &str, name: &str) -> String {
    format!("{owner}:{name}")
}
