//! Lists of objects.

use std::fmt;
use std::sync::Arc;

use kubewright_core::Revision;
use kubewright_wire::continue_token::ContinueToken;
use serde_json::{Map, Value, json};

use super::steps::Selection;
use super::target::Target;
use crate::store::{Object, Snapshot};

/// Many objects as of one revision.
pub struct List {
    /// `kind`, `apiVersion` and `metadata` of the list.
    pub(crate) head: Map<String, Value>,
    /// The objects, in key order.
    pub items: Vec<Arc<Object>>,
    /// Whether the items carry their kind, as those of custom resources do.
    pub(crate) shows_kinds: bool,
    /// The revision of the list.
    pub revision: Revision,
}

impl fmt::Debug for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("List")
            .field("head", &self.head)
            .field("items", &self.items.len())
            .finish_non_exhaustive()
    }
}

/// Which objects of a snapshot a list holds.
#[derive(Clone, Debug, Default)]
pub(super) struct Page {
    /// The path of the first key; none for the first page.
    pub(super) start: Option<String>,
    pub(super) limit: Option<usize>,
}

/// All selected objects of a snapshot.
pub(super) fn select_all(target: &Target, selection: &Selection, snapshot: &Snapshot) -> List {
    select(target, selection, snapshot, &Page::default())
}

/// The selected objects of a page.
pub(super) fn select(
    target: &Target,
    selection: &Selection,
    snapshot: &Snapshot,
    page: &Page,
) -> List {
    let namespace = target.namespace.as_deref();
    let mut range = snapshot.range(&target.resource.id, namespace, page.start.as_deref());
    let mut items: Vec<Arc<Object>> = Vec::new();
    let mut last = None;
    for (key, object) in range.by_ref() {
        if selection.matches(&target.restored(object)) {
            items.push(Arc::clone(object));
            last = Some(key);
        }
        if page.limit == Some(items.len()) {
            break;
        }
    }
    let revision = snapshot.revision();
    let mut metadata = json!({"resourceVersion": revision.to_string()});
    if target.resource.custom().is_some() {
        // The list of a custom resource shows the token even when there is none.
        metadata["continue"] = json!("");
    }
    let has_more = range.next().is_some();
    if let Some(last) = last
        && has_more
    {
        let path = last.path();
        let below = namespace.and_then(|namespace| path.strip_prefix(namespace)?.strip_prefix('/'));
        let token = ContinueToken {
            revision: Some(revision.number()),
            start: format!("{}\0", below.unwrap_or(path)),
        };
        metadata["continue"] = json!(token.encode());
        if selection.is_everything() {
            metadata["remainingItemCount"] = json!(range.count() + 1);
        }
    }
    let mut head = Map::new();
    head.insert("kind".to_owned(), json!(target.resource.list_kind));
    head.insert("apiVersion".to_owned(), json!(target.kind().api_version()));
    head.insert("metadata".to_owned(), metadata);
    List {
        head,
        items,
        shows_kinds: target.resource.custom().is_some(),
        revision,
    }
}
