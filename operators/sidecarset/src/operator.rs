use k8s_openapi::api::admissionregistration::v1::MutatingWebhookConfiguration;
use k8s_openapi::api::apps::v1::ControllerRevision;
use k8s_openapi::api::core::v1::Namespace;
use kube::Api;
use kube::api::{Patch, PatchParams};
use kubewright::controller::{Cache, Predicate};
use kubewright::prelude::*;
use kubewright::webhook::{Admission, Change, Denied, Findings, Operation, Reinvocation};
use kubewright::{ObjectKey, PolicyRule, Verb};

use crate::check::{Neighbours, check};
use crate::inject::base_of;
use crate::narrow::narrowed;
use crate::place::{NAME_LABEL, Place};
use crate::policy::{Injection, acts, is_by_policy};
use crate::reconcile::Sets;
use crate::record::injected_list;
use crate::revision::SET_LABEL;
use crate::selector::matches;
use crate::v1alpha1::{from_v1beta1, to_v1beta1};
use crate::{Error, SidecarSet, Surroundings, fill_in, inject};

/// The operator's name, and that of its webhook configuration.
pub(crate) const NAME: &str = "sidecarset";

/// How long Pods of a set that are made or change wait for each other, so that they are counted
/// once: less than anybody notices, and hundreds of Pods under load.
const TOGETHER: Duration = Duration::from_millis(100);

/// The operator: sets are filled in and checked, Pods get their sidecars and newer ones, and the
/// sets count them.
pub fn operator() -> Operator {
    operator_with(Injection::Webhook)
}

/// The same with a choice of who puts sidecars into Pods.
pub fn operator_with(injection: Injection) -> Operator {
    Operator::new(NAME)
        .version(env!("CARGO_PKG_VERSION"))
        .controller(sets(injection))
        .controller(
            Controller::with(injection, narrow)
                .named("scope")
                .watches(
                    kind::<SidecarSet>().when(scope_may_change()),
                    enqueue::all(),
                )
                .grants(rule(
                    "admissionregistration.k8s.io",
                    "mutatingwebhookconfigurations",
                )),
        )
        .webhook(Webhook::converts(to_v1beta1, from_v1beta1))
        .webhook(Webhook::defaults(fill_in))
        .webhook(
            Webhook::validates_async(examine)
                .reads(kind::<SidecarSet>())
                .reads(kind::<ControllerRevision>().labels(SET_LABEL)),
        )
        .webhook(
            Webhook::mutates(admit)
                .on(Operation::Create)
                // None, until the operator runs and says which: every namespace has a name.
                .namespaces(format!("!{NAME_LABEL}"))
                .reads(kind::<SidecarSet>())
                .reads(kind::<Namespace>())
                .reads(kind::<ControllerRevision>().labels(SET_LABEL))
                // A sidecar of another injector may come later.
                .reinvoke(Reinvocation::IfNeeded),
        )
}

/// Counting Pods changes nothing of which are asked about.
fn scope_may_change() -> Predicate<SidecarSet> {
    changed::generation()
        .or(changed::labels())
        .or(changed::by(|old, new| acts(old) != acts(new)))
}

/// The controller of sets; only one that makes policies may do so.
fn sets(injection: Injection) -> Controller<SidecarSet> {
    let sets = Controller::with(Sets::new(injection), Sets::reconcile)
        .owns(kind::<ControllerRevision>().labels(SET_LABEL))
        .watches(kind::<Pod>().index_labels().debounce(TOGETHER), sets_of)
        .watches(kind::<Namespace>().when(changed::labels()), enqueue::all())
        .writes(kind::<Pod>(), [Verb::Patch])
        .grants(rule("", "pods/status"))
        .events()
        .workers(4);
    match injection {
        Injection::Webhook => sets,
        Injection::Policy => sets
            .watches(kind::<SidecarSet>(), replaced)
            .grants(policy_rule()),
    }
}

fn rule(group: &str, resource: &str) -> PolicyRule {
    PolicyRule {
        api_groups: vec![group.to_owned()],
        resources: vec![resource.to_owned()],
        verbs: vec!["patch".to_owned()],
        ..PolicyRule::default()
    }
}

/// Policies are looked at only where they are served, so that they are not registered as owned.
fn policy_rule() -> PolicyRule {
    let words = |words: &[&str]| words.iter().map(|&one| one.to_owned()).collect();
    PolicyRule {
        api_groups: words(&["admissionregistration.k8s.io"]),
        resources: words(&[
            "mutatingadmissionpolicies",
            "mutatingadmissionpolicybindings",
        ]),
        verbs: words(&["list", "watch", "create", "patch", "delete"]),
        ..PolicyRule::default()
    }
}

async fn examine(change: Change<SidecarSet>, cx: Admission) -> Result<Findings, Denied> {
    let around = Neighbours {
        sets: cx.list::<SidecarSet>()?.iter().collect(),
        revisions: cx.list::<ControllerRevision>()?.iter().collect(),
    };
    let mut findings = Findings::default();
    check(&change, &around, &mut findings);
    Ok(findings)
}

async fn admit(pod: Pod, cx: Admission) -> Result<Pod, Denied> {
    let sets: Vec<_> = cx.list::<SidecarSet>()?.iter().collect();
    let names_revision = |set: &Arc<SidecarSet>| set.spec.injection_strategy.revision.is_some();
    let revisions = match sets.iter().any(names_revision) {
        true => cx.list::<ControllerRevision>()?.iter().collect(),
        false => Vec::new(),
    };
    let namespace = cx.get::<Namespace>(&ObjectKey::cluster_scoped(cx.namespace()))?;
    let around = Surroundings {
        place: Place {
            name: cx.namespace(),
            labels: namespace.as_ref().map(|one| one.labels()),
        },
        sets,
        revisions,
    };
    inject(pod, &around).map_err(|error| match error {
        // No decision: a later try may have one.
        Error::UnknownNamespace { .. } => error.into(),
        error => Denied::because(error.to_string()),
    })
}

/// Lets the API server ask only about Pods that some set may be for.
async fn narrow(
    injection: Arc<Injection>,
    configuration: Arc<MutatingWebhookConfiguration>,
    cx: Context<MutatingWebhookConfiguration>,
) -> Result<Outcome> {
    if configuration.name_any() != NAME {
        return Ok(Outcome::done());
    }
    let mut sets: Vec<_> = cx.list::<SidecarSet>()?.iter().collect();
    if *injection == Injection::Policy {
        let all = sets.clone();
        sets.retain(|set| !is_by_policy(set, &all));
    }
    if let Some(patch) = narrowed(&configuration, &sets) {
        let all: Api<MutatingWebhookConfiguration> = Api::all(cx.client().clone());
        let patch = Patch::Strategic(patch);
        all.patch(NAME, &PatchParams::default(), &patch).await?;
    }
    Ok(Outcome::done())
}

/// The set in whose place a canary stands: it is not plain while it has one.
fn replaced(set: &SidecarSet, _: &Cache<SidecarSet>) -> Option<ObjectKey> {
    base_of(set).map(|base| ObjectKey::cluster_scoped(base))
}

/// The sets that may count this Pod, or whose containers it has.
fn sets_of(pod: &Pod, sets: &Cache<SidecarSet>) -> Vec<ObjectKey> {
    let done = injected_list(pod);
    let concerned = |set: &Arc<SidecarSet>| {
        let selector = set.spec.selector.as_ref();
        done.contains(&set.name_any())
            || selector.is_some_and(|selector| matches(selector, pod.labels()))
    };
    let sets = sets.list();
    let concerned = sets.iter().filter(concerned);
    concerned
        .map(|set| ObjectKey::cluster_scoped(&set.name_any()))
        .collect()
}
