use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kubewright::{condition, set_condition};

use crate::policy::{POLICY_CONDITION, Way};
use crate::revision::Revised;
use crate::roll_out::{Member, PROGRESSING, Plan};
use crate::{SidecarSet, SidecarSetStatus};

/// The condition that says which Pods the set selects and does not have.
pub const INJECTED_CONDITION: &str = "Injected";

/// What a set knows of its Pods and versions.
#[derive(Debug)]
pub struct Report<'r> {
    /// The Pods that have its containers.
    pub members: &'r [Member],
    /// How many Pods it selects that do not.
    pub uninjected: usize,
    /// What its roll-out does next.
    pub plan: &'r Plan,
    /// Its versions.
    pub revised: &'r Revised,
    /// The fields that keep Pods from being updated.
    pub changed: &'r [String],
    /// How new Pods get its containers, where the operator makes policies.
    pub way: Option<&'r Way>,
}

/// Writes into the status of a set what it knows.
pub fn report(set: &SidecarSet, report: &Report<'_>, status: &mut SidecarSetStatus) {
    let count =
        |is: fn(&Member) -> bool| number(report.members.iter().filter(|one| is(one)).count());
    status.observed_generation = set.metadata.generation.unwrap_or_default();
    status.matched_pods = number(report.members.len());
    status.updated_pods = count(|one| one.is_updated);
    status.ready_pods = count(|one| one.is_ready);
    status.updated_ready_pods = count(|one| one.is_updated && one.is_ready);
    status.not_upgradable_pods = number(report.plan.not_upgradable.len());
    status.uninjected_pods = number(report.uninjected);
    status.latest_revision = Some(report.revised.latest.clone());
    status.collision_count = match report.revised.collisions {
        0 => status.collision_count,
        count => Some(count),
    };
    let progress = &report.plan.progress;
    let mut message = progress.message.clone();
    if !report.changed.is_empty() {
        message.push_str(&format!("; changed: {}", report.changed.join(", ")));
    }
    let generation = set.metadata.generation;
    let observed = |mut one: Condition| {
        one.observed_generation = generation;
        one
    };
    set_condition(
        &mut status.conditions,
        observed(condition(
            PROGRESSING,
            progress.is_progressing,
            progress.reason,
            message,
        )),
    );
    let (is_injected, reason, message) = match report.uninjected {
        0 => (
            true,
            "AllPods",
            "all Pods that are selected have the containers".to_owned(),
        ),
        count => (
            false,
            "OlderPods",
            format!(
                "{count} Pods that are selected do not have the containers, since they were created \
                 before the set was for them; recreate them"
            ),
        ),
    };
    set_condition(
        &mut status.conditions,
        observed(condition(INJECTED_CONDITION, is_injected, reason, message)),
    );
    match report.way {
        Some(way) => set_condition(&mut status.conditions, observed(way.condition())),
        None => status
            .conditions
            .retain(|one| one.type_ != POLICY_CONDITION),
    }
}

fn number(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::{Report, report};
    use crate::roll_out::tests::{pod_of, set_of};
    use crate::roll_out::{member, plan};
    use crate::{POLICY_CONDITION, Revised, SidecarSetStatus, Way};

    #[test]
    fn the_status_says_what_is_known() {
        let (old, new) = (set_of("i:1", json!({})), set_of("i:2", json!({})));
        let pods = [pod_of(&old, "a"), pod_of(&new, "b")].map(Arc::new);
        let members: Vec<_> = pods.iter().filter_map(|pod| member(&new, pod)).collect();
        let plan = plan(&new, &members);
        let mut status = SidecarSetStatus::default();
        let revised = Revised {
            latest: "s-1".to_owned(),
            ..Revised::default()
        };
        let known = Report {
            members: &members,
            uninjected: 3,
            plan: &plan,
            revised: &revised,
            changed: &["a.args".to_owned()],
            way: Some(&Way::Policy("sidecarset.s".to_owned())),
        };
        report(&new, &known, &mut status);
        let written = json!(status);
        for (field, wanted) in [
            ("matchedPods", json!(2)),
            ("updatedPods", json!(1)),
            ("readyPods", json!(2)),
            ("updatedReadyPods", json!(1)),
            ("uninjectedPods", json!(3)),
            ("latestRevision", json!("s-1")),
        ] {
            assert_eq!(written[field], wanted, "{field}");
        }
        let conditions = &written["conditions"];
        assert_eq!(conditions[0]["reason"], "Updating");
        assert_eq!(
            conditions[0]["message"],
            "1 of 2 Pods updated, 1 of them ready; 1 updated now; changed: a.args"
        );
        assert_eq!(conditions[1]["status"], "False");
        assert_eq!(conditions[2]["type"], POLICY_CONDITION);
        let webhook_alone = Report { way: None, ..known };
        report(&new, &webhook_alone, &mut status);
        assert_eq!(status.conditions.len(), 2);
    }
}
