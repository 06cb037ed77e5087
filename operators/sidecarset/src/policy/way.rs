use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kubewright::condition;
use kubewright::prelude::*;

use super::plain::obstacle;
use crate::SidecarSet;

/// The condition that says whether new Pods get the containers without the operator.
pub const POLICY_CONDITION: &str = "InjectedByPolicy";

/// How new Pods get the containers of a set, for an operator that makes policies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Way {
    /// By the policy of this name.
    Policy(String),
    /// By the policy of this name as soon as the API server acts on it, and by the webhook until
    /// then.
    Settling(String),
    /// By the webhook, or not at all.
    Webhook(Reason),
}

/// Why no policy puts the containers of a set into Pods.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The cluster serves no such policies.
    NotServed,
    /// The operator may not read them.
    NotPermitted,
    /// The API server did not take the policy, and said this.
    Refused(String),
    /// The set needs more than a policy can do.
    NotPlain(&'static str),
    /// Nothing is put into Pods for now.
    Paused,
}

impl Way {
    /// What the set's status says of it.
    pub fn condition(&self) -> Condition {
        let (holds, reason, message) = match self {
            Self::Policy(name) => (
                true,
                "Plain",
                format!(
                    "new Pods get the containers by MutatingAdmissionPolicy {name}, also while the \
                     operator is down"
                ),
            ),
            Self::Settling(name) => (
                false,
                "Settling",
                format!(
                    "MutatingAdmissionPolicy {name} is new; new Pods get the containers by the \
                     webhook until the API server acts on it"
                ),
            ),
            Self::Webhook(Reason::NotServed) => (
                false,
                "NotServed",
                "the cluster serves no MutatingAdmissionPolicy, which Kubernetes does since 1.36; \
                 new Pods get the containers by the webhook"
                    .to_owned(),
            ),
            Self::Webhook(Reason::NotPermitted) => (
                false,
                "NotPermitted",
                "the operator may not list mutatingadmissionpolicies and \
                 mutatingadmissionpolicybindings; grant what its manifests print with \
                 SIDECARSET_INJECTION=policy; until then new Pods get the containers by the webhook"
                    .to_owned(),
            ),
            Self::Webhook(Reason::Refused(why)) => (
                false,
                "Refused",
                format!(
                    "new Pods get the containers by the webhook: the API server refused the \
                     MutatingAdmissionPolicy or its binding: {why}"
                ),
            ),
            Self::Webhook(Reason::NotPlain(why)) => (
                false,
                "NotPlain",
                format!("new Pods get the containers by the webhook: {why}"),
            ),
            Self::Webhook(Reason::Paused) => (
                false,
                "Paused",
                "new Pods do not get the containers while injectionStrategy.paused is true"
                    .to_owned(),
            ),
        };
        condition(POLICY_CONDITION, holds, reason, message)
    }
}

/// Whether nobody has to be asked about the Pods of a set: its policy acts, and the set is still
/// one that a policy does for.
pub(crate) fn is_by_policy(set: &SidecarSet, sets: &[Arc<SidecarSet>]) -> bool {
    acts(set) && obstacle(set, sets).is_none()
}

/// Whether the status says that the policy of the set as it is acts.
pub(crate) fn acts(set: &SidecarSet) -> bool {
    policy_condition(set).is_some_and(|one| {
        one.status == "True" && one.observed_generation == set.metadata.generation
    })
}

/// What the status says of the policy.
pub(super) fn policy_condition(set: &SidecarSet) -> Option<&Condition> {
    let status = set.status.iter();
    let mut conditions = status.flat_map(|status| &status.conditions);
    conditions.find(|one| one.type_ == POLICY_CONDITION)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Way, is_by_policy};
    use crate::SidecarSetStatus;
    use crate::inject::tests::set_of;

    #[test]
    fn the_webhook_is_left_out_only_while_the_policy_acts_and_does_all() {
        let mut set = set_of("s", json!({"containers": [{"name": "a"}]}));
        assert!(!is_by_policy(&set, &[]));
        for (way, wanted) in [
            (Way::Settling("p".to_owned()), false),
            (Way::Policy("p".to_owned()), true),
        ] {
            set.status = Some(SidecarSetStatus {
                conditions: vec![way.condition()],
                ..SidecarSetStatus::default()
            });
            assert_eq!(is_by_policy(&set, &[]), wanted, "{way:?}");
        }
        set.metadata.generation = Some(2);
        assert!(
            !is_by_policy(&set, &[]),
            "the condition is of the set before"
        );
        set.metadata.generation = None;
        set.spec.volumes.push(Default::default());
        assert!(!is_by_policy(&set, &[]));
    }
}
