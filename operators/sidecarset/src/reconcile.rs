//! Reconciles a set: its revisions, its policy, its status, and the updates of its Pods.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::apps::v1::ControllerRevision;
use k8s_openapi::api::core::v1::Namespace;
use kube::Api;
use kube::api::{Patch, PatchParams};
use kubewright::prelude::*;
use kubewright::{Event, LabelSelector, List};
use serde_json::{Value, json};

use crate::SidecarSet;
use crate::pod_annotations::injections;
use crate::pod_namespace::{PodNamespace, selects};
use crate::policy::{Injector, PolicyReconciler};
use crate::revision::{RevisionPlan, plan_revisions, restore};
use crate::roll_out::{
    InjectedPod, Plan, changed_fields, flipped, injected_pod, is_active, plan, updated,
};
use crate::status::{ObservedState, report};
use crate::upgradable::upgradable_patch;
use crate::written_pods::WrittenPods;

/// After which time a Pod is patched again that another client has changed meanwhile.
const CONFLICT_RETRY: Duration = Duration::from_secs(1);

/// Reconciles sets, and remembers writes that the cache does not have yet.
#[derive(Debug, Default)]
pub(crate) struct Reconciler {
    written_pods: WrittenPods,
    /// None if the webhook injects all sets.
    policies: Option<PolicyReconciler>,
}

/// The Pods that a set selects.
struct SelectedPods {
    injected: Vec<InjectedPod>,
    /// The number of active Pods without the containers of the set.
    uninjected: usize,
}

/// Whether a write was applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PatchOutcome {
    /// It was, or the Pod no longer exists.
    Done,
    /// Another client has changed the Pod meanwhile.
    Conflict,
}

impl Reconciler {
    pub(crate) fn new(injector: Injector) -> Self {
        Self {
            written_pods: WrittenPods::default(),
            policies: match injector {
                Injector::Webhook => None,
                Injector::Policy => Some(PolicyReconciler::default()),
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
        let pods = self.selected_pods(&set, &cx)?;
        let revisions = write_revisions(&set, &pods.injected, &cx).await?;
        let policy = match &self.policies {
            Some(policies) => Some(policies.reconcile(&set, &revisions.latest, &cx).await?),
            None => None,
        };
        let plan = plan(&set, &pods.injected);
        let changed_fields = fields_not_upgradable(&set, &plan, &cx)?;
        let observed = ObservedState {
            pods: &pods.injected,
            uninjected: pods.uninjected,
            plan: &plan,
            revisions: &revisions,
            changed_fields: &changed_fields,
            injected_by: policy.as_ref().map(|policy| &policy.injected_by),
        };
        cx.status(|status| report(&set, &observed, status)).await?;
        if !plan.not_upgradable.is_empty() {
            cx.event(Event::warning("NotUpgradablePods", &plan.progress.message));
        }
        let updates = self.roll_out(&set, &plan, &revisions, &cx).await?;
        let retry = (updates == PatchOutcome::Conflict).then_some(CONFLICT_RETRY);
        let policy_requeue = policy.and_then(|policy| policy.requeue_after);
        let next_run = [retry, policy_requeue].into_iter().flatten().min();
        Ok(next_run.map_or_else(Outcome::done, Outcome::requeue_after))
    }

    fn selected_pods(&self, set: &SidecarSet, cx: &Context<SidecarSet>) -> Result<SelectedPods> {
        let namespaces: BTreeMap<_, _> = cx
            .list::<Namespace>()?
            .iter()
            .map(|namespace| (namespace.name_any(), namespace))
            .collect();
        let mut selected = SelectedPods {
            injected: Vec::new(),
            uninjected: 0,
        };
        for pod in &labelled_pods(set, cx)? {
            let name = pod.namespace().unwrap_or_default();
            let namespace = PodNamespace {
                name: &name,
                labels: namespaces.get(&name).map(|namespace| namespace.labels()),
            };
            if selects(set, &pod, namespace) != Some(true) {
                continue;
            }
            let newest = self.written_pods.newest(pod);
            match injected_pod(set, &newest) {
                Some(injected) => selected.injected.push(injected),
                None => selected.uninjected += usize::from(is_active(&newest)),
            }
        }
        Ok(selected)
    }

    /// Updates the Pods of the plan, and their conditions.
    async fn roll_out(
        &self,
        set: &SidecarSet,
        plan: &Plan,
        revisions: &RevisionPlan,
        cx: &Context<SidecarSet>,
    ) -> Result<PatchOutcome> {
        let now = cx.clock().now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        let mut patches = Vec::new();
        for pod in &plan.flip {
            patches.extend(flipped(set, pod).map(|update| (pod, update.patch)));
        }
        for pod in &plan.update {
            let update = updated(set, pod, &revisions.latest, &now)?;
            patches.push((pod, update.patch));
        }
        let mut outcomes = Vec::new();
        for (pod, patch) in patches {
            outcomes.push(self.patch(pod, &patch, cx).await?);
        }
        for (pods, is_upgradable) in [(&plan.not_upgradable, false), (&plan.update, true)] {
            for pod in pods {
                if let Some(patch) = upgradable_patch(&set.name_any(), pod, is_upgradable, &now) {
                    outcomes.push(self.patch_status(pod, &patch, cx).await?);
                }
            }
        }
        Ok(if outcomes.contains(&PatchOutcome::Conflict) {
            PatchOutcome::Conflict
        } else {
            PatchOutcome::Done
        })
    }

    async fn patch(
        &self,
        pod: &Pod,
        patch: &Value,
        cx: &Context<SidecarSet>,
    ) -> Result<PatchOutcome> {
        let (pods, params) = (pods_beside(pod, cx), PatchParams::default());
        let patch = Patch::Strategic(patch);
        match pods.patch(&pod.name_any(), &params, &patch).await {
            Ok(pod) => self.written_pods.record(pod),
            Err(kube::Error::Api(status)) if status.code == 404 => self.written_pods.forget(pod),
            Err(kube::Error::Api(status)) if status.code == 409 => {
                self.written_pods.forget(pod);
                return Ok(PatchOutcome::Conflict);
            }
            Err(error) => return Err(error.into()),
        }
        Ok(PatchOutcome::Done)
    }

    async fn patch_status(
        &self,
        pod: &Pod,
        patch: &Value,
        cx: &Context<SidecarSet>,
    ) -> Result<PatchOutcome> {
        let (pods, params) = (pods_beside(pod, cx), PatchParams::default());
        let patch = Patch::Strategic(patch);
        match pods.patch_status(&pod.name_any(), &params, &patch).await {
            Ok(pod) => self.written_pods.record(pod),
            Err(kube::Error::Api(status)) if status.code == 404 => {}
            Err(kube::Error::Api(status)) if status.code == 409 => {
                return Ok(PatchOutcome::Conflict);
            }
            Err(error) => return Err(error.into()),
        }
        Ok(PatchOutcome::Done)
    }
}

/// Writes the revision of the current version, and deletes old ones beyond the history limit.
async fn write_revisions(
    set: &SidecarSet,
    pods: &[InjectedPod],
    cx: &Context<SidecarSet>,
) -> Result<RevisionPlan> {
    let revisions: Vec<_> = cx.owned::<ControllerRevision>()?.iter().collect();
    let set_name = set.name_any();
    let in_use: BTreeSet<String> = pods
        .iter()
        .filter_map(|pod| revision_of(&pod.pod, &set_name))
        .collect();
    let plan = plan_revisions(set, &revisions, &in_use);
    if let Some(mut revision) = plan.write.clone() {
        // Sets are cluster-wide; their revisions are in the operator's namespace.
        revision.metadata.namespace = Some(cx.own_namespace().to_owned());
        cx.apply(&revision).await?;
    }
    for revision in &plan.delete {
        cx.delete(revision).await?;
    }
    Ok(plan)
}

/// The name of the set's revision that the Pod has.
fn revision_of(pod: &Pod, set: &str) -> Option<String> {
    injections(pod).remove(set)?.controller_revision
}

/// Returns the Pods that the set selects by labels. The cache decodes no others.
fn labelled_pods(set: &SidecarSet, cx: &Context<SidecarSet>) -> Result<List<Pod>> {
    // An invalid selector was stored before sets were validated.
    match LabelSelector::from_object(&json!(set.spec.selector)) {
        Ok(selector) if !selector.is_empty() => cx.matching::<Pod>(&selector.to_string()),
        _ => Ok(List::from_iter(Vec::<Pod>::new())),
    }
}

/// The Pods in the namespace of a Pod.
fn pods_beside(pod: &Pod, cx: &Context<SidecarSet>) -> Api<Pod> {
    let namespace = pod.namespace().unwrap_or_default();
    Api::namespaced(cx.client().clone(), &namespace)
}

/// Returns the fields in which the set differs from the revisions of Pods that are not upgradable.
fn fields_not_upgradable(
    set: &SidecarSet,
    plan: &Plan,
    cx: &Context<SidecarSet>,
) -> Result<Vec<String>> {
    let set_name = set.name_any();
    let names: BTreeSet<_> = plan
        .not_upgradable
        .iter()
        .filter_map(|pod| revision_of(pod, &set_name))
        .collect();
    let mut fields = BTreeSet::new();
    for revision in cx.owned::<ControllerRevision>()?.iter() {
        if names.contains(&revision.name_any())
            && let Some(old) = restore(set, &revision)
        {
            fields.extend(changed_fields(&old, set));
        }
    }
    Ok(fields.into_iter().collect())
}
