use std::fmt;
use std::marker::PhantomData;

use super::{Predicate, TypedKind};

/// A kind and which of its objects and changes are meant.
///
/// ```
/// use kubewright::prelude::*;
///
/// let web = kind::<Pod>().labels("app=web").when(changed::labels());
/// ```
pub fn kind<K: TypedKind>() -> Selection<K> {
    Selection {
        labels: None,
        predicate: None,
        kind: PhantomData,
    }
}

/// What [`kind`] makes: one value that `owns`, `watches`, `reads` and `writes` take.
pub struct Selection<K> {
    pub(super) labels: Option<String>,
    pub(super) predicate: Option<Predicate<K>>,
    kind: PhantomData<fn(K)>,
}

impl<K: TypedKind> Selection<K> {
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
            .field("labels", &self.labels)
            .field("predicate", &self.predicate)
            .finish()
    }
}
