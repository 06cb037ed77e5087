use std::sync::Arc;

use kubewright_runtime::cache::View;

use super::AnyKind;
use super::selection::Values;

/// Adds the indexes of a controller, a webhook or a watch to the store behind the view.
pub(crate) fn add_indexes<W: AnyKind>(
    view: &View<W>,
    owner: &str,
    indexes: &[(String, Values<W>)],
) {
    for (name, values) in indexes {
        let values = Arc::clone(values);
        view.add_index(&index_name(owner, name), move |object| values(object));
    }
}

/// Informers are shared: each of their users has its own indexes all the same. No name of a
/// controller and no path of a webhook has a colon.
pub(crate) fn index_name(owner: &str, name: &str) -> String {
    format!("{owner}:{name}")
}
