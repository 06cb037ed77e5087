//! Predicates: which events of a selection reach the controller.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Not;
use std::sync::Arc;

use kubewright_wire::record::Record;

/// Evaluates a predicate; `None` if it does not apply to such an event, which then passes.
type Evaluate = dyn Fn(&ObservedChange<'_>) -> Option<bool> + Send + Sync;

/// An event, as a predicate sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ObservedChange<'a> {
    pub(crate) old: Option<&'a Record>,
    pub(crate) new: Option<&'a Record>,
    /// Whether the object existed when the watch began.
    pub(crate) is_initial: bool,
}

/// Decides which events of objects of kind `K` reach the controller.
///
/// The predicates of [`changed`](super::changed) apply to changes: creation and deletion always
/// pass. Those of [`only`](super::only) apply to events of any type.
pub struct Predicate<K> {
    evaluate: Arc<Evaluate>,
    kind: PhantomData<fn(K)>,
}

impl<K> Predicate<K> {
    pub(crate) fn new(
        evaluate: impl Fn(Option<&Record>, Option<&Record>) -> Option<bool> + Send + Sync + 'static,
    ) -> Self {
        Self::of_events(move |change| evaluate(change.old, change.new))
    }

    pub(crate) fn of_events(
        evaluate: impl Fn(&ObservedChange<'_>) -> Option<bool> + Send + Sync + 'static,
    ) -> Self {
        Self {
            evaluate: Arc::new(evaluate),
            kind: PhantomData,
        }
    }

    /// Returns a predicate that applies to changes alone; the arguments are the object before and
    /// after.
    pub(crate) fn of_changes(
        evaluate: impl Fn(&Record, &Record) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self::new(move |old, new| Some(evaluate(old?, new?)))
    }

    /// Passes events that pass this predicate or the other.
    #[must_use]
    pub fn or(self, other: Self) -> Self
    where
        K: 'static,
    {
        Self::of_events(
            move |change| match ((self.evaluate)(change), (other.evaluate)(change)) {
                (Some(false), result) | (result, Some(false)) => result,
                (Some(true), _) | (_, Some(true)) => Some(true),
                (None, None) => None,
            },
        )
    }

    /// Passes events that pass both predicates.
    #[must_use]
    pub fn and(self, other: Self) -> Self
    where
        K: 'static,
    {
        Self::of_events(
            move |change| match ((self.evaluate)(change), (other.evaluate)(change)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (None, result) | (result, None) => result,
                (Some(true), Some(true)) => Some(true),
            },
        )
    }

    pub(crate) fn passes(&self, change: &ObservedChange<'_>) -> bool {
        (self.evaluate)(change).unwrap_or(true)
    }
}

/// Passes events that this predicate rejects. Events to which it does not apply still pass.
///
/// ```
/// use kubewright::controller::only;
/// use kubewright::prelude::*;
///
/// // Deletions of Secrets enqueue nothing.
/// let secrets = kind::<Secret>().when(!only::deleted());
/// ```
impl<K: 'static> Not for Predicate<K> {
    type Output = Self;

    fn not(self) -> Self {
        Self::of_events(move |change| Some(!(self.evaluate)(change)?))
    }
}

impl<K> Clone for Predicate<K> {
    fn clone(&self) -> Self {
        Self {
            evaluate: Arc::clone(&self.evaluate),
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

    use super::{ObservedChange, Predicate};
    use crate::kinds::{changed, only};

    fn pod(app: &str, generation: u32) -> Record {
        let pod = json!({"metadata": {
            "name": "a", "labels": {"app": app}, "generation": generation,
            "resourceVersion": format!("{app}-{generation}"),
        }});
        Record::from_value(&pod).unwrap()
    }

    /// Returns an event after the initial list.
    fn change<'a>(old: Option<&'a Record>, new: Option<&'a Record>) -> ObservedChange<'a> {
        ObservedChange {
            old,
            new,
            is_initial: false,
        }
    }

    /// Returns which of these pass: creation, a change of the label, a change of the generation,
    /// deletion.
    fn passing(predicate: &Predicate<Pod>) -> [bool; 4] {
        let (web, db, later) = (pod("web", 1), pod("db", 1), pod("web", 2));
        [
            predicate.passes(&change(None, Some(&web))),
            predicate.passes(&change(Some(&web), Some(&db))),
            predicate.passes(&change(Some(&web), Some(&later))),
            predicate.passes(&change(Some(&later), None)),
        ]
    }

    #[test]
    fn objects_of_the_initial_list_differ_from_created_ones() {
        let existing = pod("web", 1);
        let initial = ObservedChange {
            is_initial: true,
            ..change(None, Some(&existing))
        };
        assert!(only::initial::<Pod>().passes(&initial));
        assert_eq!(passing(&only::initial()), [false; 4]);
        let created = only::created::<Pod>().and(!only::initial());
        assert!(!created.passes(&initial));
        assert_eq!(passing(&created), [true, false, false, false]);
    }

    #[test]
    fn creation_and_deletion_pass_predicates_over_changes() {
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
        assert!(!revision.passes(&change(Some(&same), Some(&same))));
    }

    #[test]
    fn creations_updates_and_deletions_are_distinguished() {
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
    fn object_that_no_longer_matches_passes_once_more() {
        let web = only::labelled("app=web".parse().unwrap());
        assert_eq!(passing(&web), [true, true, true, true]);
        let db = || only::labelled("app=db".parse().unwrap());
        assert_eq!(passing(&db()), [false, true, false, false]);
        assert_eq!(passing(&!db()), [true, false, true, true]);
        let named = only::by(|pod: &Pod| pod.metadata.name.as_deref() == Some("b"));
        assert_eq!(passing(&named), [false, false, false, false]);
        // Where only one of the two applies, it decides.
        let either = db().or(changed::generation());
        assert_eq!(passing(&either), [true, true, true, true]);
        let both = db().and(changed::labels());
        assert_eq!(passing(&both), [false, true, false, false]);
    }
}
