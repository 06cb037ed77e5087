//! The policies and bindings that the cluster has.

use k8s_openapi::api::admissionregistration::v1::{
    MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding,
};
use kube::Api;
use kube::api::ListParams;
use kubewright::context::{Watch, WriteError};
use kubewright::controller::Cache;
use kubewright::prelude::*;
use kubewright::{Event, ObjectKey, owner};

use super::set_policy::{SetPolicy, policy_name};
use super::tracker::PolicyVersion;
use crate::SidecarSet;
use crate::names::SET_LABEL;

/// How long the first list of the policies may take.
const SYNC_TIMEOUT: Duration = Duration::from_secs(30);
/// How much of a rejection is reported. It repeats the expression, which may be longer than the
/// message of a condition.
const MAX_MESSAGE_CHARS: usize = 1000;

/// The policies and bindings of sets, in a cache of their own. They are not registered with the
/// controller, which would wait forever where the cluster does not serve them.
#[derive(Debug)]
pub(super) struct StoredPolicies {
    policies: Watch<MutatingAdmissionPolicy>,
    bindings: Watch<MutatingAdmissionPolicyBinding>,
}

impl StoredPolicies {
    /// Starts to watch them. Returns none if the operator's role does not permit it to read them.
    pub(super) async fn open(cx: &Context<SidecarSet>) -> Result<Option<Self>> {
        if !is_permitted(cx).await? {
            return Ok(None);
        }
        let mut stored = Self {
            policies: cx.watch(kind::<MutatingAdmissionPolicy>().labels(SET_LABEL), set_of)?,
            bindings: cx.watch(
                kind::<MutatingAdmissionPolicyBinding>().labels(SET_LABEL),
                set_of,
            )?,
        };
        let synced = async { stored.policies.synced().await && stored.bindings.synced().await };
        match tokio::time::timeout(SYNC_TIMEOUT, synced).await {
            Ok(true) => Ok(Some(stored)),
            Ok(false) => Err("read the policies of sets: the operator stops".into()),
            Err(_) => Err(SYNC_TIMED_OUT.into()),
        }
    }

    /// Returns the version of the stored policy and binding, or none if one of them differs from
    /// the desired one.
    pub(super) fn version_if_current(
        &self,
        set: &SidecarSet,
        desired: &SetPolicy,
    ) -> Result<Option<PolicyVersion>> {
        let policy = self
            .policy(set)?
            .filter(|policy| policy.spec == desired.policy.spec);
        let binding = self
            .binding(set)?
            .filter(|binding| binding.spec == desired.binding.spec);
        Ok(policy
            .zip(binding)
            .map(|(policy, binding)| PolicyVersion::new(&policy.metadata, &binding.metadata)))
    }

    /// Writes the policy and the binding, where they differ.
    pub(super) async fn write(
        &self,
        set: &SidecarSet,
        desired: &SetPolicy,
        cx: &Context<SidecarSet>,
    ) -> Result<()> {
        let policy = self.policy(set)?;
        if policy.is_none_or(|policy| policy.spec != desired.policy.spec) {
            cx.apply(&desired.policy).unowned().await?;
        }
        let binding = self.binding(set)?;
        if binding.is_none_or(|binding| binding.spec != desired.binding.spec) {
            cx.apply(&desired.binding).unowned().await?;
        }
        Ok(())
    }

    /// Whether the set has a policy or a binding.
    pub(super) fn has_any(&self, set: &SidecarSet) -> Result<bool> {
        Ok(self.policy(set)?.is_some() || self.binding(set)?.is_some())
    }

    /// Deletes both. A rejected deletion becomes an event and does not fail the reconcile.
    pub(super) async fn delete(&self, set: &SidecarSet, cx: &Context<SidecarSet>) -> Result<()> {
        if let Some(binding) = self.binding(set)? {
            report_rejection(cx.delete(&binding).await, cx)?;
        }
        if let Some(policy) = self.policy(set)? {
            report_rejection(cx.delete(&policy).await, cx)?;
        }
        Ok(())
    }

    /// Returns the policy of the set. One of a deleted set of the same name is left to the garbage
    /// collector.
    fn policy(&self, set: &SidecarSet) -> Result<Option<Arc<MutatingAdmissionPolicy>>> {
        let policy = self.policies.get(&key_of(set))?;
        Ok(policy.filter(|policy| owner::is_owner(set, &**policy)))
    }

    fn binding(&self, set: &SidecarSet) -> Result<Option<Arc<MutatingAdmissionPolicyBinding>>> {
        let binding = self.bindings.get(&key_of(set))?;
        Ok(binding.filter(|binding| owner::is_owner(set, &**binding)))
    }
}

const SYNC_TIMED_OUT: &str = "read the policies of sets: no complete list after 30 seconds; check \
                              that the operator is permitted to list and watch \
                              mutatingadmissionpolicies and mutatingadmissionpolicybindings";

/// Returns the message with which the API server rejected a write; none for failures that a retry
/// may repair.
pub(super) fn rejection_message(failure: &Failure) -> Option<String> {
    let status = failure.cause().downcast_ref::<WriteError>()?.status()?;
    is_rejection(status.code).then(|| status.message.chars().take(MAX_MESSAGE_CHARS).collect())
}

/// Whether a retry of the same request would fail as well: not after a failed authentication, a
/// timeout, a conflict or too many requests.
fn is_rejection(code: u16) -> bool {
    (400..500).contains(&code) && ![401, 408, 409, 429].contains(&code)
}

fn report_rejection(deleted: Result<()>, cx: &Context<SidecarSet>) -> Result<()> {
    let Err(failure) = deleted else {
        return Ok(());
    };
    let Some(message) = rejection_message(&failure) else {
        return Err(failure);
    };
    cx.event(Event::warning("PolicyNotRemoved", message));
    Ok(())
}

/// Whether the role permits to list both kinds. Checked beforehand, because an informer without
/// that permission would retry forever.
async fn is_permitted(cx: &Context<SidecarSet>) -> Result<bool> {
    let policies: Api<MutatingAdmissionPolicy> = Api::all(cx.client().clone());
    let bindings: Api<MutatingAdmissionPolicyBinding> = Api::all(cx.client().clone());
    let params = ListParams::default().limit(1).labels(SET_LABEL);
    Ok(is_allowed(policies.list(&params).await)? && is_allowed(bindings.list(&params).await)?)
}

fn is_allowed<T>(response: Result<T, kube::Error>) -> Result<bool> {
    match response {
        Ok(_) => Ok(true),
        Err(kube::Error::Api(status)) if status.code == 403 => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn key_of(set: &SidecarSet) -> ObjectKey {
    ObjectKey::cluster_scoped(&policy_name(&set.name_any()))
}

/// Maps a policy or a binding to its set.
fn set_of<K: ResourceExt>(object: &K, _: &Cache<SidecarSet>) -> Option<ObjectKey> {
    let name = object.labels().get(SET_LABEL)?;
    Some(ObjectKey::cluster_scoped(name))
}

#[cfg(test)]
mod tests {
    use super::{is_allowed, is_rejection};

    #[test]
    fn only_403_counts_as_a_missing_permission() {
        let response = |code: u16| {
            let status = kube::core::Status::failure("no", "").with_code(code);
            Err::<(), _>(kube::Error::Api(Box::new(status)))
        };
        assert!(is_allowed(Ok(())).unwrap());
        assert!(!is_allowed(response(403)).unwrap());
        assert!(is_allowed(response(500)).is_err());
    }

    #[test]
    fn errors_that_a_retry_may_repair_are_no_rejections() {
        for code in [400, 403, 422] {
            assert!(is_rejection(code), "{code}");
        }
        for code in [401, 409, 429, 500, 503] {
            assert!(!is_rejection(code), "{code}");
        }
    }
}
