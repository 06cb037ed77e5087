//! The operator: its controllers and webhooks, and what they read and write.

use k8s_openapi::api::admissionregistration::v1::MutatingWebhookConfiguration;
use k8s_openapi::api::apps::v1::ControllerRevision;
use k8s_openapi::api::core::v1::Namespace;
use kube::Api;
use kube::api::{Patch, PatchParams};
use kubewright::controller::{Cache, Predicate};
use kubewright::prelude::*;
use kubewright::webhook::{Admission, Change, Denied, Findings, Operation, Reinvocation};
use kubewright::{ObjectKey, PolicyRule, Verb};

use crate::check::{ValidationContext, check};
use crate::kind::base_of;
use crate::names::{NAMESPACE_NAME_LABEL, OPERATOR, SET_LABEL};
use crate::pod_annotations::injected_sets;
use crate::pod_namespace::PodNamespace;
use crate::policy::{Injector, is_policy_effective, needs_no_webhook};
use crate::reconcile::Reconciler;
use crate::selector::matches;
use crate::v1alpha1::{from_v1beta1, to_v1beta1};
use crate::webhook_configuration::scoping_patch;
use crate::{Error, InjectionContext, SidecarSet, fill_in, inject};

/// How long changes of Pods are gathered before their set is reconciled: one reconcile counts
/// hundreds of Pods under load, and users do not notice the delay.
const POD_DEBOUNCE: Duration = Duration::from_millis(100);

/// Returns the operator, which injects by webhook.
pub fn operator() -> Operator {
    operator_with(Injector::Webhook)
}

/// Returns the operator with this injector.
pub fn operator_with(injector: Injector) -> Operator {
    Operator::new(OPERATOR)
        .version(env!("CARGO_PKG_VERSION"))
        .controller(set_controller(injector))
        .controller(
            Controller::with(injector, scope_webhook)
                .named("scope")
                .watches(
                    kind::<SidecarSet>().when(scope_may_change()),
                    enqueue::all(),
                )
                .grants(patch_rule(
                    "admissionregistration.k8s.io",
                    "mutatingwebhookconfigurations",
                )),
        )
        .webhook(Webhook::converts(to_v1beta1, from_v1beta1))
        .webhook(Webhook::defaults(fill_in))
        .webhook(
            Webhook::validates_async(validate)
                .reads(kind::<SidecarSet>())
                .reads(kind::<ControllerRevision>().labels(SET_LABEL)),
        )
        .webhook(
            Webhook::mutates(admit)
                .on(Operation::Create)
                // Matches no namespace, since each has this label: the operator adds webhooks for
                // the Pods of its sets.
                .namespaces(format!("!{NAMESPACE_NAME_LABEL}"))
                .reads(kind::<SidecarSet>())
                .reads(kind::<Namespace>())
                .reads(kind::<ControllerRevision>().labels(SET_LABEL))
                // Another webhook may add containers that a set computes resources from.
                .reinvoke(Reinvocation::IfNeeded),
        )
}

/// Whether a change of a set may change the scope of the webhook. New counts in the status do not.
fn scope_may_change() -> Predicate<SidecarSet> {
    changed::generation()
        .or(changed::labels())
        .or(changed::by(|old, new| {
            is_policy_effective(old) != is_policy_effective(new)
        }))
}

/// The controller of sets. Its role covers policies only if it manages them.
fn set_controller(injector: Injector) -> Controller<SidecarSet> {
    let controller = Controller::with(Reconciler::new(injector), Reconciler::reconcile)
        .owns(kind::<ControllerRevision>().labels(SET_LABEL))
        .watches(kind::<Pod>().index_labels().debounce(POD_DEBOUNCE), sets_of)
        .watches(kind::<Namespace>().when(changed::labels()), enqueue::all())
        .writes(kind::<Pod>(), [Verb::Patch])
        .grants(patch_rule("", "pods/status"))
        .events()
        .workers(4);
    match injector {
        Injector::Webhook => controller,
        Injector::Policy => controller
            .watches(kind::<SidecarSet>(), base_set)
            .grants(policies_rule()),
    }
}

fn patch_rule(group: &str, resource: &str) -> PolicyRule {
    PolicyRule {
        api_groups: vec![group.to_owned()],
        resources: vec![resource.to_owned()],
        verbs: vec!["patch".to_owned()],
        ..PolicyRule::default()
    }
}

/// The rule for policies. They are not registered with `owns`, because a cluster may not serve them.
fn policies_rule() -> PolicyRule {
    let owned = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
    PolicyRule {
        api_groups: owned(&["admissionregistration.k8s.io"]),
        resources: owned(&[
            "mutatingadmissionpolicies",
            "mutatingadmissionpolicybindings",
        ]),
        verbs: owned(&["list", "watch", "create", "patch", "delete"]),
        ..PolicyRule::default()
    }
}

async fn validate(change: Change<SidecarSet>, cx: Admission) -> Result<Findings, Denied> {
    let context = ValidationContext {
        sets: cx.list::<SidecarSet>()?.iter().collect(),
        revisions: cx.list::<ControllerRevision>()?.iter().collect(),
    };
    let mut findings = Findings::default();
    check(&change, &context, &mut findings);
    Ok(findings)
}

async fn admit(pod: Pod, cx: Admission) -> Result<Pod, Denied> {
    let sets: Vec<_> = cx.list::<SidecarSet>()?.iter().collect();
    let names_revision = |set: &Arc<SidecarSet>| set.spec.injection_strategy.revision.is_some();
    let revisions = if sets.iter().any(names_revision) {
        cx.list::<ControllerRevision>()?.iter().collect()
    } else {
        Vec::new()
    };
    let namespace = cx.get::<Namespace>(&ObjectKey::cluster_scoped(cx.namespace()))?;
    let context = InjectionContext {
        namespace: PodNamespace {
            name: cx.namespace(),
            labels: namespace.as_ref().map(|namespace| namespace.labels()),
        },
        sets,
        revisions,
    };
    inject(pod, &context).map_err(|error| match error {
        // Not a denial: a retry may succeed.
        Error::UnknownNamespace { .. } => error.into(),
        error => Denied::because(error.to_string()),
    })
}

/// Limits the webhook for Pods to the Pods of the sets that need it.
async fn scope_webhook(
    injector: Arc<Injector>,
    configuration: Arc<MutatingWebhookConfiguration>,
    cx: Context<MutatingWebhookConfiguration>,
) -> Result<Outcome> {
    if configuration.name_any() != OPERATOR {
        return Ok(Outcome::done());
    }
    let all_sets: Vec<_> = cx.list::<SidecarSet>()?.iter().collect();
    let mut sets = all_sets.clone();
    if *injector == Injector::Policy {
        sets.retain(|set| !needs_no_webhook(set, &all_sets));
    }
    if let Some(patch) = scoping_patch(&configuration, &sets) {
        let configurations: Api<MutatingWebhookConfiguration> = Api::all(cx.client().clone());
        let params = PatchParams::default();
        let patch = Patch::Strategic(patch);
        configurations.patch(OPERATOR, &params, &patch).await?;
    }
    Ok(Outcome::done())
}

/// Maps a canary to its base, which is not plain while it has a canary.
fn base_set(set: &SidecarSet, _: &Cache<SidecarSet>) -> Option<ObjectKey> {
    base_of(set).map(|base| ObjectKey::cluster_scoped(base))
}

/// Maps a Pod to the sets that select it by labels or that were injected into it.
fn sets_of(pod: &Pod, sets: &Cache<SidecarSet>) -> Vec<ObjectKey> {
    let injected = injected_sets(pod);
    let concerns_pod = |set: &Arc<SidecarSet>| {
        let selector = set.spec.selector.as_ref();
        injected.contains(&set.name_any())
            || selector.is_some_and(|selector| matches(selector, pod.labels()))
    };
    sets.list()
        .iter()
        .filter(concerns_pod)
        .map(|set| ObjectKey::cluster_scoped(&set.name_any()))
        .collect()
}
