use std::fmt;
use std::marker::PhantomData;
use std::ops::Not;
use std::sync::Arc;

use kubewright_wire::record::Record;

/// What an event means to a predicate; none when it says nothing about such an event, which then
/// passes.
type Matters = dyn Fn(&Seen<'_>) -> Option<bool> + Send + Sync;

/// An event, as a predicate sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen<'a> {
    pub(crate) old: Option<&'a Record>,
    pub(crate) new: Option<&'a Record>,
    /// Whether it tells of what was there when the watching began.
    pub(crate) is_initial: bool,
}

/// Which events of objects of kind `K` matter.
///
/// Those of [`changed`](super::changed) are about changes: creation and deletion always pass them.
/// Those of [`only`](super::only) are about objects and events of any kind.
pub struct Predicate<K> {
    matters: Arc<Matters>,
    kind: PhantomData<fn(K)>,
}

impl<K> Predicate<K> {
    pub(crate) fn new(
        matters: impl Fn(Option<&Record>, Option<&Record>) -> Option<bool> + Send + Sync + 'static,
    ) -> Self {
        Self::of_events(move |seen| matters(seen.old, seen.new))
    }

    pub(crate) fn of_events(
        matters: impl Fn(&Seen<'_>) -> Option<bool> + Send + Sync + 'static,
    ) -> Self {
        Self {
            matters: Arc::new(matters),
            kind: PhantomData,
        }
    }

    /// About changes alone, given the object before and after.
    pub(crate) fn of_changes(
        matters: impl Fn(&Record, &Record) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self::new(move |old, new| Some(matters(old?, new?)))
    }

    /// Events that matter to this or to the other.
    #[must_use]
    pub fn or(self, other: Self) -> Self
    where
        K: 'static,
    {
        Self::of_events(
            move |seen| match ((self.matters)(seen), (other.matters)(seen)) {
                (Some(false), verdict) | (verdict, Some(false)) => verdict,
                (Some(true), _) | (_, Some(true)) => Some(true),
                (None, None) => None,
            },
        )
    }

    /// Events that matter to this and to the other.
    #[must_use]
    pub fn and(self, other: Self) -> Self
    where
        K: 'static,
    {
        Self::of_events(
            move |seen| match ((self.matters)(seen), (other.matters)(seen)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (None, verdict) | (verdict, None) => verdict,
                (Some(true), Some(true)) => Some(true),
            },
        )
    }

    pub(crate) fn passes(&self, seen: &Seen<'_>) -> bool {
        (self.matters)(seen).unwrap_or(true)
    }
}

/// Events that do not matter to this; what it says nothing about passes all the same.
///
/// ```
/// use kubewright::prelude::*;
/// use kubewright::controller::only;
///
/// // Deletions of Secrets wake nobody.
/// let secrets = kind::<Secret>().when(!only::deleted());
/// ```
impl<K: 'static> Not for Predicate<K> {
    type Output = Self;

    fn not(self) -> Self {
        Self::of_events(move |seen| Some(!(self.matters)(seen)?))
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

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::Pod;
    use kubewright_wire::record::Record;
    use serde_json::json;

    use super::{Predicate, Seen};
    use crate::controller::{changed, only};

    fn pod(app: &str, generation: u32) -> Record {
        let pod = json!({"metadata": {
            "name": "a", "labels": {"app": app}, "generation": generation,
            "resourceVersion": format!("{app}-{generation}"),
        }});
        Record::from_value(&pod).unwrap()
    }

    /// An event that is not about the beginning.
    fn seen<'a>(old: Option<&'a Record>, new: Option<&'a Record>) -> Seen<'a> {
        Seen {
            old,
            new,
            is_initial: false,
        }
    }

    /// What passes: creation, a change of the label, one of the generation, deletion.
    fn passing(predicate: &Predicate<Pod>) -> [bool; 4] {
        let (web, db, later) = (pod("web", 1), pod("db", 1), pod("web", 2));
        [
            predicate.passes(&seen(None, Some(&web))),
            predicate.passes(&seen(Some(&web), Some(&db))),
            predicate.passes(&seen(Some(&web), Some(&later))),
            predicate.passes(&seen(Some(&later), None)),
        ]
    }

    #[test]
    fn what_was_there_at_the_beginning_is_told_from_what_has_come() {
        let there = pod("web", 1);
        let initial = Seen {
            is_initial: true,
            ..seen(None, Some(&there))
        };
        assert!(only::initial::<Pod>().passes(&initial));
        assert_eq!(passing(&only::initial()), [false; 4]);
        let come = only::created::<Pod>().and(!only::initial());
        assert!(!come.passes(&initial));
        assert_eq!(passing(&come), [true, false, false, false]);
    }

    #[test]
    fn creation_and_deletion_pass_whatever_is_asked_of_changes() {
        assert_eq!(passing(&changed::labels()), [true, true, false, true]);
        assert_eq!(passing(&changed::generation()), [true, false, true, true]);
        assert_eq!(passing(&changed::annotations()), [true, false, false, true]);
        assert_eq!(passing(&!changed::labels()), [true, false, true, true]);
        let either = changed::labels().or(changed::generation());
        assert_eq!(passing(&either), [true, true, true, true]);
        let both = changed::labels().and(changed::generation());
        assert_eq!(passing(&both), [true, false, false, true]);
        let revision = changed::resource_version();
        assert_eq!(passing(&revision), [true, true, true, true]);
        let same = pod("web", 1);
        let revision = changed::resource_version::<Pod>();
        assert!(!revision.passes(&seen(Some(&same), Some(&same))));
    }

    #[test]
    fn events_are_told_apart() {
        assert_eq!(passing(&only::created()), [true, false, false, false]);
        assert_eq!(passing(&only::updated()), [false, true, true, false]);
        assert_eq!(passing(&only::deleted()), [false, false, false, true]);
        let ends = only::created().or(only::deleted());
        assert_eq!(passing(&ends), [true, false, false, true]);
        assert_eq!(passing(&!only::deleted()), [true, true, true, false]);
        let relabelled = changed::labels().and(only::updated());
        assert_eq!(passing(&relabelled), [false, true, false, false]);
    }

    #[test]
    fn an_object_that_leaves_a_selection_matters_once_more() {
        let web = only::labelled("app=web".parse().unwrap());
        assert_eq!(passing(&web), [true, true, true, true]);
        let db = || only::labelled("app=db".parse().unwrap());
        assert_eq!(passing(&db()), [false, true, false, false]);
        assert_eq!(passing(&!db()), [true, false, true, true]);
        let named = only::by(|pod: &Pod| pod.metadata.name.as_deref() == Some("b"));
        assert_eq!(passing(&named), [false, false, false, false]);
        // What only one of them has an opinion on is up to that one.
        let either = db().or(changed::generation());
        assert_eq!(passing(&either), [true, true, true, true]);
        let both = db().and(changed::labels());
        assert_eq!(passing(&both), [false, true, false, false]);
    }
}
