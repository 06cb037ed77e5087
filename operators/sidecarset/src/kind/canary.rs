//! Canaries: sets that are tried out on some of the Pods of another set.

use kube::ResourceExt as _;

use super::SidecarSet;
use crate::names::{BASE_LABEL, CANARY_LABEL};

/// Returns the name of the set that a canary replaces, or none if the set is not a canary.
pub(crate) fn base_of(set: &SidecarSet) -> Option<&String> {
    let labels = set.labels();
    labels.get(BASE_LABEL).filter(|_| is_canary(set))
}

/// Whether the set is marked as a canary.
pub(crate) fn is_canary(set: &SidecarSet) -> bool {
    let mark = set.labels().get(CANARY_LABEL);
    mark.is_some_and(|value| value == "true")
}
