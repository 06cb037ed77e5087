//! How new Pods get the containers of a set, and the condition that reports it.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kubewright::condition;
use kubewright::prelude::*;

use super::plain::webhook_requirement;
use crate::SidecarSet;

/// The condition that reports whether new Pods get the containers without the operator.
pub const POLICY_CONDITION: &str = "InjectedByPolicy";

/// How new Pods get the containers of a set, for an operator that manages policies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InjectedBy {
    /// By the policy of this name.
    Policy(String),
    /// By the webhook until every API server has loaded the policy of this name.
    PendingPolicy(String),
    /// By the webhook, or not at all.
    Webhook(WebhookReason),
}

/// Why no policy injects the containers of a set.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WebhookReason {
    /// The cluster does not serve MutatingAdmissionPolicies.
    NotServed,
    /// The operator's role does not permit it to read them.
    NotPermitted,
    /// The API server has rejected the policy with this message.
    Rejected(String),
    /// The set needs more than a policy can do.
    NotPlain(&'static str),
    /// The injection is paused.
    Paused,
}

impl InjectedBy {
    /// Returns the condition for the status of the set.
    pub fn condition(&self) -> Condition {
        let (status, reason, message) = match self {
            Self::Policy(name) => (
                true,
                "Plain",
                format!(
                    "new Pods get the containers by MutatingAdmissionPolicy {name}, also while the \
                     operator is down"
                ),
            ),
            Self::PendingPolicy(name) => (
                false,
                "Pending",
                format!(
                    "MutatingAdmissionPolicy {name} is new; new Pods get the containers by the \
                     webhook until the API server evaluates it"
                ),
            ),
            Self::Webhook(reason) => (false, reason.name(), reason.message()),
        };
        condition(POLICY_CONDITION, status, reason, message)
    }
}

impl WebhookReason {
    fn name(&self) -> &'static str {
        match self {
            Self::NotServed => "NotServed",
            Self::NotPermitted => "NotPermitted",
            Self::Rejected(_) => "Rejected",
            Self::NotPlain(_) => "NotPlain",
            Self::Paused => "Paused",
        }
    }

    fn message(&self) -> String {
        match self {
            Self::NotServed => "the cluster does not serve MutatingAdmissionPolicy, which \
                                Kubernetes does since 1.36; new Pods get the containers by the \
                                webhook"
                .to_owned(),
            Self::NotPermitted => "the operator is not permitted to list \
                                   mutatingadmissionpolicies and mutatingadmissionpolicybindings; \
                                   grant what its manifests print with SIDECARSET_INJECTION=policy; \
                                   until then new Pods get the containers by the webhook"
                .to_owned(),
            Self::Rejected(message) => format!(
                "new Pods get the containers by the webhook: the API server rejected the \
                 MutatingAdmissionPolicy or its binding: {message}"
            ),
            Self::NotPlain(requirement) => {
                format!("new Pods get the containers by the webhook: {requirement}")
            }
            Self::Paused => {
                "new Pods do not get the containers while injectionStrategy.paused is true"
                    .to_owned()
            }
        }
    }
}

/// Whether the webhook need not be called for the Pods of a set: its policy is effective, and the
/// set is still plain.
pub(crate) fn needs_no_webhook(set: &SidecarSet, sets: &[Arc<SidecarSet>]) -> bool {
    is_policy_effective(set) && webhook_requirement(set, sets).is_none()
}

/// Whether the status reports that the policy of the current generation is effective.
pub(crate) fn is_policy_effective(set: &SidecarSet) -> bool {
    policy_condition(set).is_some_and(|condition| {
        condition.status == "True" && condition.observed_generation == set.metadata.generation
    })
}

/// Returns the condition of the policy from the status.
pub(super) fn policy_condition(set: &SidecarSet) -> Option<&Condition> {
    let mut conditions = set.status.as_ref()?.conditions.iter();
    conditions.find(|condition| condition.type_ == POLICY_CONDITION)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{InjectedBy, needs_no_webhook};
    use crate::SidecarSetStatus;
    use crate::inject::fixtures::set_of;

    #[test]
    fn webhook_is_omitted_only_while_the_policy_is_effective_and_the_set_plain() {
        let mut set = set_of("s", json!({"containers": [{"name": "a"}]}));
        assert!(!needs_no_webhook(&set, &[]));
        for (injected_by, expected) in [
            (InjectedBy::PendingPolicy("p".to_owned()), false),
            (InjectedBy::Policy("p".to_owned()), true),
        ] {
            set.status = Some(SidecarSetStatus {
                conditions: vec![injected_by.condition()],
                ..SidecarSetStatus::default()
            });
            assert_eq!(needs_no_webhook(&set, &[]), expected, "{injected_by:?}");
        }
        set.metadata.generation = Some(2);
        assert!(
            !needs_no_webhook(&set, &[]),
            "the condition is of the last generation"
        );
        set.metadata.generation = None;
        set.spec.volumes.push(Default::default());
        assert!(!needs_no_webhook(&set, &[]));
    }
}
