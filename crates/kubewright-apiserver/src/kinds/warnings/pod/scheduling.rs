use super::super::node_labels::{Values, deprecated, named, term};
use super::super::{At, Told};

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

/// Labels by which nodes are chosen.
pub(super) fn node_labels(spec: At<'_>, told: &mut Told) {
    for (label, at) in spec.field("nodeSelector").entries() {
        if let Some(why) = deprecated(label) {
            told.at(at, why);
        }
    }
    let affinity = spec.field("affinity");
    let nodes = affinity.field("nodeAffinity");
    let required = nodes.field(REQUIRED);
    for one in required.field("nodeSelectorTerms").items() {
        term(one, Values::Any, told);
    }
    for preferred in nodes.field(PREFERRED).items() {
        term(preferred.field("preference"), Values::Checked, told);
    }
}

pub(super) fn spread_constraints(at: At<'_>, told: &mut Told) {
    for constraint in at.items() {
        named(constraint.field("topologyKey"), told);
        selector(constraint, told);
    }
}

/// Selectors of other Pods.
pub(super) fn pod_selectors(affinity: At<'_>, told: &mut Told) {
    for kind in ["podAffinity", "podAntiAffinity"] {
        let own = affinity.field(kind);
        for required in own.field(REQUIRED).items() {
            selector(required, told);
        }
        for preferred in own.field(PREFERRED).items() {
            selector(preferred.field("podAffinityTerm"), told);
        }
    }
}

fn selector(at: At<'_>, told: &mut Told) {
    let own = at.field("labelSelector");
    if !own.is_set() {
        told.at(own, "a null labelSelector results in matching no pod");
    }
}
