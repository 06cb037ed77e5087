//! The status of a set: its counts and its conditions.

use kubewright::{condition, set_condition};

use crate::policy::{InjectedBy, POLICY_CONDITION};
use crate::revision::RevisionPlan;
use crate::roll_out::{InjectedPod, PROGRESSING, Plan};
use crate::{SidecarSet, SidecarSetStatus};

/// The condition that reports whether all Pods that the set selects have its containers.
pub const INJECTED_CONDITION: &str = "Injected";

/// What the status of a set reports.
#[derive(Debug)]
pub struct ObservedState<'o> {
    /// The Pods that have the containers of the set.
    pub pods: &'o [InjectedPod],
    /// The number of Pods that the set selects but that do not have its containers.
    pub uninjected: usize,
    /// The next steps of the roll-out.
    pub plan: &'o Plan,
    /// The revisions of the set.
    pub revisions: &'o RevisionPlan,
    /// The changed fields that keep Pods from being updated.
    pub changed_fields: &'o [String],
    /// How new Pods get the containers; none if the operator manages no policies.
    pub injected_by: Option<&'o InjectedBy>,
}

/// Sets the counts and the conditions of a status.
pub fn report(set: &SidecarSet, observed: &ObservedState<'_>, status: &mut SidecarSetStatus) {
    let count = |is: fn(&InjectedPod) -> bool| {
        let pods = observed.pods.iter();
        number(pods.filter(|pod| is(pod)).count())
    };
    status.observed_generation = set.metadata.generation.unwrap_or_default();
    status.matched_pods = number(observed.pods.len());
    status.updated_pods = count(|pod| pod.is_updated);
    status.ready_pods = count(|pod| pod.is_ready);
    status.updated_ready_pods = count(|pod| pod.is_updated && pod.is_ready);
    status.not_upgradable_pods = number(observed.plan.not_upgradable.len());
    status.uninjected_pods = number(observed.uninjected);
    status.latest_revision = Some(observed.revisions.latest.clone());
    if observed.revisions.collisions > 0 {
        status.collision_count = Some(observed.revisions.collisions);
    }
    set_conditions(observed, status);
}

/// The times and observed generations of the conditions are left to `cx.status`.
fn set_conditions(observed: &ObservedState<'_>, status: &mut SidecarSetStatus) {
    let conditions = &mut status.conditions;
    let progress = &observed.plan.progress;
    let mut message = progress.message.clone();
    if !observed.changed_fields.is_empty() {
        let fields = observed.changed_fields.join(", ");
        message.push_str(&format!("; changed: {fields}"));
    }
    set_condition(
        conditions,
        condition(
            PROGRESSING,
            progress.is_progressing,
            progress.reason,
            message,
        ),
    );
    let injected = match observed.uninjected {
        0 => {
            let message = "all selected Pods have the containers";
            condition(INJECTED_CONDITION, true, "AllPods", message)
        }
        count => {
            let message = format!(
                "{count} selected Pods do not have the containers, since they were created before \
                 the set selected them; recreate them"
            );
            condition(INJECTED_CONDITION, false, "OlderPods", message)
        }
    };
    set_condition(conditions, injected);
    match observed.injected_by {
        Some(injected_by) => set_condition(conditions, injected_by.condition()),
        None => conditions.retain(|condition| condition.type_ != POLICY_CONDITION),
    }
}

fn number(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::{ObservedState, report};
    use crate::roll_out::fixtures::{pod_of, set_of};
    use crate::roll_out::{injected_pod, plan};
    use crate::{InjectedBy, POLICY_CONDITION, RevisionPlan, SidecarSetStatus};

    #[test]
    fn status_has_counts_and_conditions() {
        let (old, new) = (set_of("i:1", json!({})), set_of("i:2", json!({})));
        let pods = [pod_of(&old, "a"), pod_of(&new, "b")].map(Arc::new);
        let injected: Vec<_> = pods
            .iter()
            .filter_map(|pod| injected_pod(&new, pod))
            .collect();
        let plan = plan(&new, &injected);
        let mut status = SidecarSetStatus::default();
        let revisions = RevisionPlan {
            latest: "s-1".to_owned(),
            ..RevisionPlan::default()
        };
        let observed = ObservedState {
            pods: &injected,
            uninjected: 3,
            plan: &plan,
            revisions: &revisions,
            changed_fields: &["a.args".to_owned()],
            injected_by: Some(&InjectedBy::Policy("sidecarset.s".to_owned())),
        };
        report(&new, &observed, &mut status);
        let written = json!(status);
        for (field, expected) in [
            ("matchedPods", json!(2)),
            ("updatedPods", json!(1)),
            ("readyPods", json!(2)),
            ("updatedReadyPods", json!(1)),
            ("uninjectedPods", json!(3)),
            ("latestRevision", json!("s-1")),
        ] {
            assert_eq!(written[field], expected, "{field}");
        }
        let conditions = &written["conditions"];
        assert_eq!(conditions[0]["reason"], "Updating");
        assert_eq!(
            conditions[0]["message"],
            "1 of 2 Pods updated, 1 of them ready; 1 updated now; changed: a.args"
        );
        assert_eq!(conditions[1]["status"], "False");
        assert_eq!(conditions[2]["type"], POLICY_CONDITION);
        let without_policies = ObservedState {
            injected_by: None,
            ..observed
        };
        report(&new, &without_policies, &mut status);
        assert_eq!(status.conditions.len(), 2);
    }
}
