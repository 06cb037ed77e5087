use std::collections::BTreeSet;

use kubewright_core::{NamedExpression, Operation};

/// How many the API server takes (k8s.io/kubernetes/pkg/apis/admissionregistration/validation),
/// less the one of ours.
const MOST: usize = 63;

/// The conditions of a webhook or a policy: for updates ours, then those that the user gave.
pub(crate) fn conditions(
    operations: &[Operation],
    given: &[NamedExpression],
) -> Vec<NamedExpression> {
    // An empty list stands for create and update.
    let updates = operations.is_empty() || operations.contains(&Operation::Update);
    let own = updates.then(NamedExpression::not_finalizing);
    own.into_iter().chain(given.iter().cloned()).collect()
}

/// Why the API server would not take the conditions, as far as it can be told without reading the
/// expressions.
pub(crate) fn fault_of_conditions(given: &[NamedExpression]) -> Option<&'static str> {
    let own = NamedExpression::not_finalizing().name;
    let names: BTreeSet<&str> = given.iter().map(|one| one.name.as_str()).collect();
    if given.iter().any(|one| one.expression.trim().is_empty()) {
        return Some("one of its expressions is empty");
    }
    if given.len() > MOST {
        return Some("it has more than 63 conditions; join some of them with &&");
    }
    if names.len() < given.len() {
        return Some("two of its conditions have one name; give each another");
    }
    names.contains(own.as_str()).then_some(
        "a condition has the name not-finalizing, which one of ours has; give it another",
    )
}
