//! The match conditions of webhooks and policies.

use std::collections::BTreeSet;

use kubewright_core::{NamedExpression, Operation};

/// The API server's maximum (k8s.io/kubernetes/pkg/apis/admissionregistration/validation), less the
/// condition that is added to the user's.
const MAXIMUM: usize = 63;

/// Returns the conditions of a webhook or a policy: `not-finalizing` for updates, then the user's.
pub(crate) fn match_conditions(
    operations: &[Operation],
    conditions: &[NamedExpression],
) -> Vec<NamedExpression> {
    // Without operations, create and update apply.
    let updates = operations.is_empty() || operations.contains(&Operation::Update);
    let own = updates.then(NamedExpression::not_finalizing);
    own.into_iter().chain(conditions.iter().cloned()).collect()
}

/// Checks the user's conditions as the API server does, except for the expressions themselves.
pub(crate) fn check_conditions(conditions: &[NamedExpression]) -> Result<(), &'static str> {
    let own = NamedExpression::not_finalizing().name;
    let names: BTreeSet<&str> = conditions
        .iter()
        .map(|condition| condition.name.as_str())
        .collect();
    if conditions
        .iter()
        .any(|condition| condition.expression.trim().is_empty())
    {
        return Err("one of its expressions is empty");
    }
    if conditions.len() > MAXIMUM {
        return Err("it has more than 63 conditions; join some of them with &&");
    }
    if names.len() < conditions.len() {
        return Err("two of its conditions have the same name; rename one of them");
    }
    if names.contains(own.as_str()) {
        return Err(
            "a condition has the name not-finalizing, which is reserved for one that is always \
             added; rename it",
        );
    }
    Ok(())
}
