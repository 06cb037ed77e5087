use kubewright::owner;
use kubewright::prelude::*;
use parking_lot::Mutex;
use tokio::time::Instant;

use super::memory::{Before, LATER, Memory, is_left_to_the_webhook};
use super::object::{SetPolicy, policy_name, set_policy};
use super::plain::obstacle;
use super::watched::{Watched, refusal};
use super::way::acts;
use super::{Reason, Way};
use crate::SidecarSet;

/// How soon a policy is looked at again that is new, or that is to go.
const SOON: Duration = Duration::from_secs(1);
const GROUP_VERSION: &str = "admissionregistration.k8s.io/v1";

/// Keeps the policies of plain sets.
#[derive(Debug, Default)]
pub(crate) struct Policies {
    support: Mutex<Support>,
    memory: Memory,
}

/// How new Pods get the containers of a set, and when to look again.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) way: Way,
    pub(crate) again: Option<Duration>,
}

/// Whether the cluster serves policies that change objects.
#[derive(Debug, Default)]
enum Support {
    #[default]
    Unknown,
    Absent,
    Served(Arc<Watched>),
}

impl Policies {
    /// Makes the policy of a set what it has to be: there for a plain set, gone otherwise.
    pub(crate) async fn keep(
        &self,
        set: &SidecarSet,
        revision: &str,
        cx: &Context<SidecarSet>,
    ) -> Result<Kept> {
        let watched = match self.watched(cx).await? {
            Ok(watched) => watched,
            Err(reason) => {
                return Ok(Kept {
                    again: (reason == Reason::NotPermitted).then_some(LATER),
                    way: Way::Webhook(reason),
                });
            }
        };
        let sets: Vec<_> = cx.list::<SidecarSet>()?.iter().collect();
        self.memory.prune(&sets);
        if set.spec.injection_strategy.paused {
            return gone(set, Reason::Paused, &watched, cx).await;
        }
        if let Some(why) = obstacle(set, &sets) {
            return gone(set, Reason::NotPlain(why), &watched, cx).await;
        }
        if let Some(why) = self.memory.refusal(set, Instant::now()) {
            return gone(set, Reason::Refused(why), &watched, cx).await;
        }
        let failure = match self.write(set, revision, &watched, cx).await {
            Ok(kept) => return Ok(kept),
            Err(failure) => failure,
        };
        let Some(why) = refusal(&failure) else {
            return Err(failure);
        };
        self.memory.refused(set, &why, Instant::now());
        gone(set, Reason::Refused(why), &watched, cx).await
    }

    async fn write(
        &self,
        set: &SidecarSet,
        revision: &str,
        watched: &Watched,
        cx: &Context<SidecarSet>,
    ) -> Result<Kept> {
        let wanted = wanted(set, revision, cx)?;
        let name = policy_name(&set.name_any());
        let is_settled = match watched.mark(set, &wanted)? {
            Some(mark) => {
                let before = match acts(set) {
                    true => Before::Acted,
                    false => Before::Unknown,
                };
                self.memory.is_settled(set, &mark, before, Instant::now())
            }
            None => {
                self.memory.writes(set);
                watched.write(set, &wanted, cx).await?;
                false
            }
        };
        Ok(match is_settled {
            true => Kept {
                way: Way::Policy(name),
                again: None,
            },
            false => Kept {
                way: Way::Settling(name),
                again: Some(SOON),
            },
        })
    }

    /// What is watched, or why nothing is. It is looked for until it is known whether it is
    /// served, and may be read, and then no more.
    async fn watched(&self, cx: &Context<SidecarSet>) -> Result<Result<Arc<Watched>, Reason>> {
        if let Some(known) = self.known() {
            return Ok(known);
        }
        let served = cx.client().list_api_group_resources(GROUP_VERSION).await?;
        let mut kinds = served.resources.iter().map(|one| one.kind.as_str());
        if !kinds.any(|kind| kind == "MutatingAdmissionPolicy") {
            *self.support.lock() = Support::Absent;
            return Ok(Err(Reason::NotServed));
        }
        let Some(watched) = Watched::open(cx).await? else {
            return Ok(Err(Reason::NotPermitted));
        };
        // Another worker may have been faster.
        if let Some(known) = self.known() {
            return Ok(known);
        }
        let watched = Arc::new(watched);
        *self.support.lock() = Support::Served(Arc::clone(&watched));
        Ok(Ok(watched))
    }

    fn known(&self) -> Option<Result<Arc<Watched>, Reason>> {
        match &*self.support.lock() {
            Support::Unknown => None,
            Support::Absent => Some(Err(Reason::NotServed)),
            Support::Served(watched) => Some(Ok(Arc::clone(watched))),
        }
    }
}

/// The policy of a set, which goes with it.
fn wanted(set: &SidecarSet, revision: &str, cx: &Context<SidecarSet>) -> Result<SetPolicy> {
    let mut wanted = set_policy(set, revision, cx.own_namespace())?;
    owner::set_controller(set, &mut wanted.policy)?;
    owner::set_controller(set, &mut wanted.binding)?;
    Ok(wanted)
}

/// Leaves a set without a policy. Only where Pods are to get nothing it goes at once: otherwise they
/// would get nothing until every API server asks the webhook. To get the containers from both is to
/// get them once.
async fn gone(
    set: &SidecarSet,
    reason: Reason,
    watched: &Watched,
    cx: &Context<SidecarSet>,
) -> Result<Kept> {
    let is_there = watched.has_any(set)?;
    let may_go = reason == Reason::Paused || is_left_to_the_webhook(set, cx.clock().now());
    if is_there && may_go {
        watched.remove(set, cx).await?;
    }
    let again = match (is_there, may_go) {
        (true, false) => Some(SOON),
        // A removal may have been refused, too.
        (true, true) => Some(LATER),
        (false, _) => matches!(reason, Reason::Refused(_)).then_some(LATER),
    };
    Ok(Kept {
        way: Way::Webhook(reason),
        again,
    })
}
