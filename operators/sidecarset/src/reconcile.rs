use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::apps::v1::ControllerRevision;
use k8s_openapi::api::core::v1::Namespace;
use kube::Api;
use kube::api::{Patch, PatchParams};
use kubewright::prelude::*;
use kubewright::{Event, LabelSelector, List};
use serde_json::{Value, json};

use crate::SidecarSet;
use crate::fresh::Fresh;
use crate::place::{Place, selects};
use crate::policy::{Injection, Policies};
use crate::record::injected;
use crate::revision::{Revised, restore, revise};
use crate::roll_out::{Member, Plan, changed_fields, flipped, is_active, member, plan, updated};
use crate::status::{Report, report};
use crate::upgradable::upgradable_patch;

/// How soon a Pod is looked at again that somebody else was writing.
const SOON: Duration = Duration::from_secs(1);

/// Keeps the Pods of sets, the versions of sets and their status.
#[derive(Debug, Default)]
pub(crate) struct Sets {
    fresh: Fresh,
    /// None when the webhook does for all sets.
    policies: Option<Policies>,
}

/// The Pods that a set selects.
struct Selected {
    members: Vec<Member>,
    uninjected: usize,
}

impl Sets {
    pub(crate) fn new(injection: Injection) -> Self {
        Self {
            fresh: Fresh::default(),
            policies: match injection {
                Injection::Webhook => None,
                Injection::Policy => Some(Policies::default()),
            },
        }
    }

    pub(crate) async fn reconcile(
        self: Arc<Self>,
        set: Arc<SidecarSet>,
        cx: Context<SidecarSet>,
    ) -> Result<Outcome> {
        if set.metadata.deletion_timestamp.is_some() {
            return Ok(Outcome::done());
        }
        let selected = self.selected(&set, &cx)?;
        let revised = self.revise(&set, &selected, &cx).await?;
        let kept = match &self.policies {
            Some(policies) => Some(policies.keep(&set, &revised.latest, &cx).await?),
            None => None,
        };
        let plan = plan(&set, &selected.members);
        let changed = changed(&set, &plan, &cx)?;
        let known = Report {
            members: &selected.members,
            uninjected: selected.uninjected,
            plan: &plan,
            revised: &revised,
            changed: &changed,
            way: kept.as_ref().map(|kept| &kept.way),
        };
        cx.status(|status| report(&set, &known, status)).await?;
        if !plan.not_upgradable.is_empty() {
            cx.event(Event::warning("NotUpgradablePods", &plan.progress.message));
        }
        let outcome = self.carry_out(&set, &plan, &revised, &cx).await?;
        let again = [outcome.next_run(), kept.and_then(|kept| kept.again)];
        let again = again.into_iter().flatten().min();
        Ok(again.map_or_else(Outcome::done, Outcome::requeue_after))
    }

    fn selected(&self, set: &SidecarSet, cx: &Context<SidecarSet>) -> Result<Selected> {
        let namespaces: BTreeMap<_, _> = cx
            .list::<Namespace>()?
            .iter()
            .map(|one| (one.name_any(), one))
            .collect();
        let mut selected = Selected {
            members: Vec::new(),
            uninjected: 0,
        };
        for pod in &labelled(set, cx)? {
            let namespace = pod.namespace().unwrap_or_default();
            let place = Place {
                name: &namespace,
                labels: namespaces.get(&namespace).map(|one| one.labels()),
            };
            if selects(set, &pod, place) != Some(true) {
                continue;
            }
            let pod = self.fresh.newest(pod);
            match member(set, &pod) {
                Some(member) => selected.members.push(member),
                None => selected.uninjected += usize::from(is_active(&pod)),
            }
        }
        Ok(selected)
    }

    async fn revise(
        &self,
        set: &SidecarSet,
        selected: &Selected,
        cx: &Context<SidecarSet>,
    ) -> Result<Revised> {
        let held: Vec<_> = cx.owned::<ControllerRevision>()?.iter().collect();
        let name = set.name_any();
        let pods = selected.members.iter();
        let in_use: BTreeSet<String> = pods
            .filter_map(|one| injected(&one.pod).remove(&name)?.controller_revision)
            .collect();
        let revised = revise(set, &held, &in_use);
        if let Some(mut write) = revised.write.clone() {
            // A set is in no namespace; its versions are in the operator's.
            write.metadata.namespace = Some(cx.own_namespace().to_owned());
            cx.apply(&write).await?;
        }
        for one in &revised.surplus {
            cx.delete(one).await?;
        }
        Ok(revised)
    }

    async fn carry_out(
        &self,
        set: &SidecarSet,
        plan: &Plan,
        revised: &Revised,
        cx: &Context<SidecarSet>,
    ) -> Result<Outcome> {
        let now = cx.clock().now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        let mut patches = Vec::new();
        for pod in &plan.flip {
            patches.extend(flipped(set, pod).map(|update| (pod, update.patch)));
        }
        for pod in &plan.update {
            let update = updated(set, pod, &revised.latest, &now)?;
            patches.push((pod, update.patch));
        }
        let mut is_disturbed = false;
        for (pod, patch) in patches {
            is_disturbed |= !self.patch(pod, &patch, cx).await?;
        }
        for (pods, is_upgradable) in [(&plan.not_upgradable, false), (&plan.update, true)] {
            for pod in pods {
                let patch = upgradable_patch(&set.name_any(), pod, is_upgradable, &now);
                if let Some(patch) = patch {
                    let done = self.patch_status(pod, &patch, cx).await;
                    is_disturbed |= !done?;
                }
            }
        }
        Ok(match is_disturbed {
            true => Outcome::requeue_after(SOON),
            false => Outcome::done(),
        })
    }

    /// Whether the Pod was as it was known to be; one that is gone needs nothing.
    async fn patch(&self, pod: &Pod, patch: &Value, cx: &Context<SidecarSet>) -> Result<bool> {
        let (pods, params) = (pods(pod, cx), PatchParams::default());
        let patch = Patch::Strategic(patch);
        match pods.patch(&pod.name_any(), &params, &patch).await {
            Ok(pod) => self.fresh.remember(pod),
            Err(kube::Error::Api(status)) if status.code == 404 => self.fresh.forget(pod),
            Err(kube::Error::Api(status)) if status.code == 409 => {
                self.fresh.forget(pod);
                return Ok(false);
            }
            Err(error) => return Err(error.into()),
        }
        Ok(true)
    }

    async fn patch_status(
        &self,
        pod: &Pod,
        patch: &Value,
        cx: &Context<SidecarSet>,
    ) -> Result<bool> {
        let (pods, params) = (pods(pod, cx), PatchParams::default());
        let patch = Patch::Strategic(patch);
        match pods.patch_status(&pod.name_any(), &params, &patch).await {
            Ok(pod) => self.fresh.remember(pod),
            Err(kube::Error::Api(status)) if status.code == 404 => {}
            Err(kube::Error::Api(status)) if status.code == 409 => return Ok(false),
            Err(error) => return Err(error.into()),
        }
        Ok(true)
    }
}

/// The Pods with the labels that a set asks for; no others are decoded.
fn labelled(set: &SidecarSet, cx: &Context<SidecarSet>) -> Result<List<Pod>> {
    let selector = json!(set.spec.selector);
    // A set whose selector cannot be understood was stored before it was checked.
    match LabelSelector::from_object(&selector) {
        Ok(selector) if !selector.is_empty() => cx.matching::<Pod>(&selector.to_string()),
        _ => Ok(List::from_iter(Vec::<Pod>::new())),
    }
}

fn pods(pod: &Pod, cx: &Context<SidecarSet>) -> Api<Pod> {
    let namespace = pod.namespace().unwrap_or_default();
    Api::namespaced(cx.client().clone(), &namespace)
}

/// The fields that keep Pods from being updated, from the versions that they have.
fn changed(set: &SidecarSet, plan: &Plan, cx: &Context<SidecarSet>) -> Result<Vec<String>> {
    let name = set.name_any();
    let mut fields = BTreeSet::new();
    let pods = plan.not_upgradable.iter();
    let versions: BTreeSet<_> = pods
        .filter_map(|pod| injected(pod).remove(&name)?.controller_revision)
        .collect();
    for revision in cx.owned::<ControllerRevision>()?.iter() {
        if versions.contains(&revision.name_any())
            && let Some(old) = restore(set, &revision)
        {
            fields.extend(changed_fields(&old, set));
        }
    }
    Ok(fields.into_iter().collect())
}
