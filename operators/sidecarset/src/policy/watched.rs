use k8s_openapi::api::admissionregistration::v1::{
    MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding,
};
use kube::Api;
use kube::api::ListParams;
use kubewright::context::{Watch, WriteError};
use kubewright::controller::Cache;
use kubewright::prelude::*;
use kubewright::{Event, ObjectKey, owner};

use super::memory::Mark;
use super::object::{SetPolicy, policy_name};
use crate::SidecarSet;
use crate::revision::SET_LABEL;

/// How long the policies there are may take to be known.
const PATIENCE: Duration = Duration::from_secs(30);
/// A refusal repeats the expression, which may be longer than a condition.
const LONGEST_REFUSAL: usize = 1000;

/// The policies and bindings there are. They are not registered with the controller, which would
/// wait for them for ever where they are not served.
#[derive(Debug)]
pub(super) struct Watched {
    policies: Watch<MutatingAdmissionPolicy>,
    bindings: Watch<MutatingAdmissionPolicyBinding>,
}

impl Watched {
    /// All that there are; none where the operator's role does not let it read them.
    pub(super) async fn open(cx: &Context<SidecarSet>) -> Result<Option<Self>> {
        if !may_read(cx).await? {
            return Ok(None);
        }
        let mut watched = Self {
            policies: cx.watch(kind::<MutatingAdmissionPolicy>().labels(SET_LABEL), set_of)?,
            bindings: cx.watch(
                kind::<MutatingAdmissionPolicyBinding>().labels(SET_LABEL),
                set_of,
            )?,
        };
        let known = async { watched.policies.synced().await && watched.bindings.synced().await };
        let known = tokio::time::timeout(PATIENCE, known).await;
        match known {
            Ok(true) => Ok(Some(watched)),
            Ok(false) => Err("read the policies of sets: the operator stops".into()),
            Err(_) => Err(SLOW.into()),
        }
    }

    /// Policy and binding of a set as they are, when that is what they have to be.
    pub(super) fn mark(&self, set: &SidecarSet, wanted: &SetPolicy) -> Result<Option<Mark>> {
        let policy = self.policy(set)?;
        let policy = policy.filter(|one| one.spec == wanted.policy.spec);
        let binding = self.binding(set)?;
        let binding = binding.filter(|one| one.spec == wanted.binding.spec);
        Ok(match (policy, binding) {
            (Some(policy), Some(binding)) => Some(Mark::of(&policy.metadata, &binding.metadata)),
            _ => None,
        })
    }

    /// Makes them what they have to be.
    pub(super) async fn write(
        &self,
        set: &SidecarSet,
        wanted: &SetPolicy,
        cx: &Context<SidecarSet>,
    ) -> Result<()> {
        let policy = self.policy(set)?;
        if policy.is_none_or(|one| one.spec != wanted.policy.spec) {
            cx.apply(&wanted.policy).unowned().await?;
        }
        let binding = self.binding(set)?;
        if binding.is_none_or(|one| one.spec != wanted.binding.spec) {
            cx.apply(&wanted.binding).unowned().await?;
        }
        Ok(())
    }

    /// Whether there is anything to remove.
    pub(super) fn has_any(&self, set: &SidecarSet) -> Result<bool> {
        Ok(self.policy(set)?.is_some() || self.binding(set)?.is_some())
    }

    /// Removes both. A removal that is refused is told, and does not keep the set from going on.
    pub(super) async fn remove(&self, set: &SidecarSet, cx: &Context<SidecarSet>) -> Result<()> {
        if let Some(binding) = self.binding(set)? {
            told(cx.delete(&binding).await, cx)?;
        }
        if let Some(policy) = self.policy(set)? {
            told(cx.delete(&policy).await, cx)?;
        }
        Ok(())
    }

    /// A policy of another set that had this name is not this one's: it goes with that one.
    fn policy(&self, set: &SidecarSet) -> Result<Option<Arc<MutatingAdmissionPolicy>>> {
        let found = self.policies.get(&key_of(set))?;
        Ok(found.filter(|one| owner::is_owner(set, &**one)))
    }

    fn binding(&self, set: &SidecarSet) -> Result<Option<Arc<MutatingAdmissionPolicyBinding>>> {
        let found = self.bindings.get(&key_of(set))?;
        Ok(found.filter(|one| owner::is_owner(set, &**one)))
    }
}

const SLOW: &str = "read the policies of sets: they are not known after 30 seconds; look whether \
                    the operator may list and watch mutatingadmissionpolicies and \
                    mutatingadmissionpolicybindings";

/// What the API server said when it did not take a write for what it is; none for failures that
/// another try may mend.
pub(super) fn refusal(failure: &Failure) -> Option<String> {
    let status = failure.cause().downcast_ref::<WriteError>()?.status()?;
    is_refusal(status.code).then(|| status.message.chars().take(LONGEST_REFUSAL).collect())
}

/// Not those that are about time: who asks, how long, in between, how often.
fn is_refusal(code: u16) -> bool {
    (400..500).contains(&code) && ![401, 408, 409, 429].contains(&code)
}

fn told(removed: Result<()>, cx: &Context<SidecarSet>) -> Result<()> {
    let Err(failure) = removed else {
        return Ok(());
    };
    let Some(why) = refusal(&failure) else {
        return Err(failure);
    };
    cx.event(Event::warning("PolicyNotRemoved", why));
    Ok(())
}

/// An informer that may not read waits for ever, so that it is asked before.
async fn may_read(cx: &Context<SidecarSet>) -> Result<bool> {
    let policies: Api<MutatingAdmissionPolicy> = Api::all(cx.client().clone());
    let bindings: Api<MutatingAdmissionPolicyBinding> = Api::all(cx.client().clone());
    let params = ListParams::default().limit(1).labels(SET_LABEL);
    Ok(is_allowed(policies.list(&params).await)? && is_allowed(bindings.list(&params).await)?)
}

fn is_allowed<T>(answer: Result<T, kube::Error>) -> Result<bool> {
    match answer {
        Ok(_) => Ok(true),
        Err(kube::Error::Api(status)) if status.code == 403 => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn key_of(set: &SidecarSet) -> ObjectKey {
    ObjectKey::cluster_scoped(&policy_name(&set.name_any()))
}

/// The set that a policy or binding is of.
fn set_of<K: ResourceExt>(object: &K, _: &Cache<SidecarSet>) -> Option<ObjectKey> {
    let name = object.labels().get(SET_LABEL)?;
    Some(ObjectKey::cluster_scoped(name))
}

#[cfg(test)]
mod tests {
    use super::{is_allowed, is_refusal};

    #[test]
    fn only_a_refusal_to_this_user_is_a_missing_right() {
        let answer = |code: u16| {
            let status = kube::core::Status::failure("no", "").with_code(code);
            Err::<(), _>(kube::Error::Api(Box::new(status)))
        };
        assert!(is_allowed(Ok(())).unwrap());
        assert!(!is_allowed(answer(403)).unwrap());
        assert!(is_allowed(answer(500)).is_err());
    }

    #[test]
    fn what_another_try_may_mend_is_no_refusal() {
        for code in [400, 403, 422] {
            assert!(is_refusal(code), "{code}");
        }
        for code in [401, 409, 429, 500, 503] {
            assert!(!is_refusal(code), "{code}");
        }
    }
}
