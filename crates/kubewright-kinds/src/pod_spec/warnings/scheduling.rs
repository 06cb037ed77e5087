//! Selectors of nodes and of other Pods.

use crate::field_path::FieldPath;
use crate::label_selector::SelectorValues;
use crate::node_labels::{deprecation, warn_node_label, warn_node_selector_term};
use crate::warning_list::Warnings;

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";

const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

/// Warns about deprecated labels in node selectors.
pub(super) fn node_labels(spec: FieldPath<'_>, warnings: &mut Warnings) {
    for (label, at) in spec.field("nodeSelector").entries() {
        if let Some(why) = deprecation(label) {
            warnings.add_at(at, why);
        }
    }
    let affinity = spec.field("affinity");
    let nodes = affinity.field("nodeAffinity");
    let required = nodes.field(REQUIRED);
    for term in required.field("nodeSelectorTerms").items() {
        warn_node_selector_term(term, SelectorValues::Any, warnings);
    }
    for preferred in nodes.field(PREFERRED).items() {
        warn_node_selector_term(
            preferred.field("preference"),
            SelectorValues::Checked,
            warnings,
        );
    }
}

pub(super) fn spread_constraints(at: FieldPath<'_>, warnings: &mut Warnings) {
    for constraint in at.items() {
        warn_node_label(constraint.field("topologyKey"), warnings);
        selector(constraint, warnings);
    }
}

/// Warns about affinity terms without a selector.
pub(super) fn pod_selectors(affinity: FieldPath<'_>, warnings: &mut Warnings) {
    for kind in ["podAffinity", "podAntiAffinity"] {
        let own = affinity.field(kind);
        for required in own.field(REQUIRED).items() {
            selector(required, warnings);
        }
        for preferred in own.field(PREFERRED).items() {
            selector(preferred.field("podAffinityTerm"), warnings);
        }
    }
}

fn selector(at: FieldPath<'_>, warnings: &mut Warnings) {
    let own = at.field("labelSelector");
    if !own.is_set() {
        warnings.add_at(own, "a null labelSelector results in matching no pod");
    }
}
