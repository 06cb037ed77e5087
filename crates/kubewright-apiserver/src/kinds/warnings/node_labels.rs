use super::{At, Told};
use crate::kinds::formats::label_value;

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

/// Whether the values of a selector are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Values {
    Checked,
    Any,
}

/// Why a label of nodes should not be used any more.
pub(super) fn deprecated(label: &str) -> Option<&'static str> {
    let known = DEPRECATED.iter().find(|(known, _)| *known == label);
    known.map(|(_, why)| *why)
}

/// A place that names a label of nodes.
pub(super) fn named(at: At<'_>, told: &mut Told) {
    if let Some(why) = deprecated(at.text()) {
        told.at(at, &format!("{} is {why}", at.text()));
    }
}

/// `GetWarningsForNodeSelectorTerm`.
pub(super) fn term(at: At<'_>, values: Values, told: &mut Told) {
    for expression in at.field("matchExpressions").items() {
        named(expression.field("key"), told);
        if values == Values::Any {
            continue;
        }
        for value in expression.field("values").items() {
            for problem in label_value(value.text()) {
                told.at(value, &format!("{} is invalid, {problem}", value.text()));
            }
        }
    }
}
