//! Creates, updates and deletes the policies of sets.

use kubewright::owner;
use kubewright::prelude::*;
use parking_lot::Mutex;
use tokio::time::Instant;

use super::injected_by::{InjectedBy, WebhookReason, is_policy_effective};
use super::plain::webhook_requirement;
use super::set_policy::{SetPolicy, policy_name, set_policy};
use super::stored::{StoredPolicies, rejection_message};
use super::tracker::{PolicyTracker, Previously, RETRY_INTERVAL, is_webhook_effective};
use crate::SidecarSet;

/// After which time a policy is checked again that is new or about to be deleted.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
const GROUP_VERSION: &str = "admissionregistration.k8s.io/v1";

/// Keeps the policies of plain sets up to date.
#[derive(Debug, Default)]
pub(crate) struct PolicyReconciler {
    support: Mutex<Support>,
    tracker: PolicyTracker,
}

/// The result of reconciling the policy of a set.
#[derive(Debug)]
pub(crate) struct PolicyOutcome {
    pub(crate) injected_by: InjectedBy,
    /// When the policy is to be reconciled again without a change.
    pub(crate) requeue_after: Option<Duration>,
}

/// Whether the cluster serves MutatingAdmissionPolicies.
#[derive(Debug, Default)]
enum Support {
    #[default]
    Unknown,
    NotServed,
    Served(Arc<StoredPolicies>),
}

impl PolicyReconciler {
    /// Creates or updates the policy of a plain set, and deletes that of any other set.
    pub(crate) async fn reconcile(
        &self,
        set: &SidecarSet,
        revision: &str,
        cx: &Context<SidecarSet>,
    ) -> Result<PolicyOutcome> {
        let stored = match self.stored(cx).await? {
            Ok(stored) => stored,
            Err(reason) => {
                let is_denied = reason == WebhookReason::NotPermitted;
                return Ok(PolicyOutcome {
                    requeue_after: is_denied.then_some(RETRY_INTERVAL),
                    injected_by: InjectedBy::Webhook(reason),
                });
            }
        };
        let sets: Vec<_> = cx.list::<SidecarSet>()?.iter().collect();
        self.tracker.prune(&sets);
        if set.spec.injection_strategy.paused {
            return leave_to_webhook(set, WebhookReason::Paused, &stored, cx).await;
        }
        if let Some(requirement) = webhook_requirement(set, &sets) {
            let reason = WebhookReason::NotPlain(requirement);
            return leave_to_webhook(set, reason, &stored, cx).await;
        }
        if let Some(message) = self.tracker.rejection(set, Instant::now()) {
            let reason = WebhookReason::Rejected(message);
            return leave_to_webhook(set, reason, &stored, cx).await;
        }
        let failure = match self.write(set, revision, &stored, cx).await {
            Ok(outcome) => return Ok(outcome),
            Err(failure) => failure,
        };
        let Some(message) = rejection_message(&failure) else {
            return Err(failure);
        };
        self.tracker.record_rejection(set, &message, Instant::now());
        leave_to_webhook(set, WebhookReason::Rejected(message), &stored, cx).await
    }

    async fn write(
        &self,
        set: &SidecarSet,
        revision: &str,
        stored: &StoredPolicies,
        cx: &Context<SidecarSet>,
    ) -> Result<PolicyOutcome> {
        let desired = desired_policy(set, revision, cx)?;
        let name = policy_name(&set.name_any());
        let is_effective = if let Some(version) = stored.version_if_current(set, &desired)? {
            let previously = if is_policy_effective(set) {
                Previously::Effective
            } else {
                Previously::Unknown
            };
            self.tracker
                .is_effective(set, &version, previously, Instant::now())
        } else {
            self.tracker.record_write(set);
            stored.write(set, &desired, cx).await?;
            false
        };
        Ok(if is_effective {
            PolicyOutcome {
                injected_by: InjectedBy::Policy(name),
                requeue_after: None,
            }
        } else {
            PolicyOutcome {
                injected_by: InjectedBy::PendingPolicy(name),
                requeue_after: Some(CHECK_INTERVAL),
            }
        })
    }

    /// Returns the watched policies, or why there are none. The cluster is probed until it is known
    /// whether it serves them and permits to read them.
    async fn stored(
        &self,
        cx: &Context<SidecarSet>,
    ) -> Result<Result<Arc<StoredPolicies>, WebhookReason>> {
        if let Some(known) = self.known_support() {
            return Ok(known);
        }
        let served = cx.client().list_api_group_resources(GROUP_VERSION).await?;
        let mut kinds = served
            .resources
            .iter()
            .map(|resource| resource.kind.as_str());
        if !kinds.any(|kind| kind == "MutatingAdmissionPolicy") {
            *self.support.lock() = Support::NotServed;
            return Ok(Err(WebhookReason::NotServed));
        }
        let Some(opened) = StoredPolicies::open(cx).await? else {
            return Ok(Err(WebhookReason::NotPermitted));
        };
        // Another worker may have opened them meanwhile.
        if let Some(known) = self.known_support() {
            return Ok(known);
        }
        let stored = Arc::new(opened);
        *self.support.lock() = Support::Served(Arc::clone(&stored));
        Ok(Ok(stored))
    }

    fn known_support(&self) -> Option<Result<Arc<StoredPolicies>, WebhookReason>> {
        match &*self.support.lock() {
            Support::Unknown => None,
            Support::NotServed => Some(Err(WebhookReason::NotServed)),
            Support::Served(stored) => Some(Ok(Arc::clone(stored))),
        }
    }
}

/// The policy of a set, owned by the set.
fn desired_policy(set: &SidecarSet, revision: &str, cx: &Context<SidecarSet>) -> Result<SetPolicy> {
    let mut desired = set_policy(set, revision, cx.own_namespace())?;
    owner::set_controller(set, &mut desired.policy)?;
    owner::set_controller(set, &mut desired.binding)?;
    Ok(desired)
}

/// Deletes the policy of a set. A paused set loses it at once. Otherwise it is deleted only once
/// every API server calls the webhook again, because Pods would get no containers in between; to
/// be injected by both changes nothing.
async fn leave_to_webhook(
    set: &SidecarSet,
    reason: WebhookReason,
    stored: &StoredPolicies,
    cx: &Context<SidecarSet>,
) -> Result<PolicyOutcome> {
    let retry_rejected = matches!(reason, WebhookReason::Rejected(_)).then_some(RETRY_INTERVAL);
    let is_deletable =
        reason == WebhookReason::Paused || is_webhook_effective(set, cx.clock().now());
    let requeue_after = if !stored.has_any(set)? {
        retry_rejected
    } else if is_deletable {
        stored.delete(set, cx).await?;
        // The API server may have rejected the deletion.
        Some(RETRY_INTERVAL)
    } else {
        Some(CHECK_INTERVAL)
    };
    Ok(PolicyOutcome {
        injected_by: InjectedBy::Webhook(reason),
        requeue_after,
    })
}
