//! Deprecated node labels, and the selectors that use them.

use kubewright_core::format::label_value;

use crate::field_path::FieldPath;
use crate::label_selector::SelectorValues;
use crate::warning_list::Warnings;

const DEPRECATED: [(&str, &str); 8] = [
    (
        "beta.kubernetes.io/arch",
        "deprecated since v1.14; use \"kubernetes.io/arch\" instead",
    ),
    (
        "beta.kubernetes.io/os",
        "deprecated since v1.14; use \"kubernetes.io/os\" instead",
    ),
    (
        "failure-domain.beta.kubernetes.io/region",
        "deprecated since v1.17; use \"topology.kubernetes.io/region\" instead",
    ),
    (
        "failure-domain.beta.kubernetes.io/zone",
        "deprecated since v1.17; use \"topology.kubernetes.io/zone\" instead",
    ),
    (
        "beta.kubernetes.io/instance-type",
        "deprecated since v1.17; use \"node.kubernetes.io/instance-type\" instead",
    ),
    ("app.kubernetes.io/created-by", "deprecated since v1.9"),
    (
        "scheduler.alpha.kubernetes.io/preferAvoidPods",
        "deprecated since v1.22; use Taints and Tolerations instead",
    ),
    (
        "node-role.kubernetes.io/master",
        "use \"node-role.kubernetes.io/control-plane\" instead",
    ),
];

/// Why a node label is deprecated.
pub(crate) fn deprecation(label: &str) -> Option<&'static str> {
    let known = DEPRECATED.iter().find(|(known, _)| *known == label);
    known.map(|(_, why)| *why)
}

/// Warns about a field whose value is a deprecated node label.
pub(crate) fn warn_node_label(at: FieldPath<'_>, warnings: &mut Warnings) {
    if let Some(why) = deprecation(at.text()) {
        warnings.add_at(at, &format!("{} is {why}", at.text()));
    }
}

/// `GetWarningsForNodeSelectorTerm`.
pub(crate) fn warn_node_selector_term(
    at: FieldPath<'_>,
    values: SelectorValues,
    warnings: &mut Warnings,
) {
    for expression in at.field("matchExpressions").items() {
        warn_node_label(expression.field("key"), warnings);
        if values == SelectorValues::Any {
            continue;
        }
        for value in expression.field("values").items() {
            for problem in label_value(value.text()) {
                warnings.add_at(value, &format!("{} is invalid, {problem}", value.text()));
            }
        }
    }
}
