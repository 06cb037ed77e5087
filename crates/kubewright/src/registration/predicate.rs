use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use kubewright_wire::record::Record;

type Matters = dyn Fn(&Record, &Record) -> bool + Send + Sync;

/// Which changes of an object of kind `K` matter; creation and deletion always do.
///
/// [`changed`](super::changed) has the usual ones.
pub struct Predicate<K> {
    matters: Arc<Matters>,
    kind: PhantomData<fn(K)>,
}

impl<K> Predicate<K> {
    pub(crate) fn new(matters: impl Fn(&Record, &Record) -> bool + Send + Sync + 'static) -> Self {
        Self {
            matters: Arc::new(matters),
            kind: PhantomData,
        }
    }

    /// Changes that matter to this or to the other.
    #[must_use]
    pub fn or(self, other: Self) -> Self
    where
        K: 'static,
    {
        Self::new(move |old, new| (self.matters)(old, new) || (other.matters)(old, new))
    }

    /// Changes that matter to this and to the other.
    #[must_use]
    pub fn and(self, other: Self) -> Self
    where
        K: 'static,
    {
        Self::new(move |old, new| (self.matters)(old, new) && (other.matters)(old, new))
    }

    pub(crate) fn passes(&self, old: Option<&Record>, new: Option<&Record>) -> bool {
        match (old, new) {
            (Some(old), Some(new)) => (self.matters)(old, new),
            _ => true,
        }
    }
}

impl<K> Clone for Predicate<K> {
    fn clone(&self) -> Self {
        Self {
            matters: Arc::clone(&self.matters),
            kind: PhantomData,
        }
    }
}

impl<K> fmt::Debug for Predicate<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Predicate").finish_non_exhaustive()
    }
}
