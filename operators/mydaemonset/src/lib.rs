//! One Pod on every node: the operator that the tutorial builds.

mod backoff;
mod kind;
mod node;
mod observed;
mod plan;
mod pod;
mod roll_out;
mod status;

use k8s_openapi::api::core::v1::Node;
use kubewright::context::WriteError;
use kubewright::prelude::*;
use kubewright::webhook::{Change, Findings};
use kubewright::{Event, slow_start};
use parking_lot::Mutex;

pub use backoff::{FailedPlace, FailedPodsBackoff};
pub use kind::{MyDaemonSet, MyDaemonSetSpec, MyDaemonSetStatus, UpdateStrategy};
pub use observed::ObservedState;
pub use plan::{Deletion, DeletionReason, Plan};

/// The operator. Its role follows from what is registered here.
pub fn operator() -> Operator {
    Operator::new("mydaemonset")
        .version(env!("CARGO_PKG_VERSION"))
        .controller(
            Controller::with(Reconciler::default(), Reconciler::reconcile)
                .owns(kind::<Pod>())
                .watches(
                    kind::<Node>().when(changed::labels().or(changed::taints())),
                    enqueue::all(),
                )
                .events()
                .workers(4),
        )
        .webhook(Webhook::validates(check))
}

/// Validates a set before the API server stores it.
fn check(change: &Change<MyDaemonSet>, findings: &mut Findings) {
    let Some(set) = change.object() else { return };
    if set.spec.image.trim().is_empty() {
        findings.required("spec.image", "image is required");
    }
    roll_out::check(&set.spec.update_strategy, findings);
}

/// Reconciles sets, and remembers failed Pods between two runs.
#[derive(Debug, Default)]
struct Reconciler {
    backoff: Mutex<FailedPodsBackoff>,
}

impl Reconciler {
    async fn reconcile(
        self: Arc<Self>,
        set: Arc<MyDaemonSet>,
        cx: Context<MyDaemonSet>,
    ) -> Result<Outcome> {
        let plan = Plan::new(&ObservedState {
            set: &set,
            nodes: &cx.list::<Node>()?,
            pods: &cx.owned::<Pod>()?,
            backoff: &self.backoff.lock(),
            now: cx.clock().now(),
        });
        let created = slow_start(plan.creations(), |pod| create(&cx, pod)).await;
        let deleted = slow_start(plan.deletions(), |deletion| self.delete(&cx, deletion)).await;
        let result = created.and(deleted);
        cx.status(|status| plan.report(status, &result)).await?;
        result.map(|()| plan.outcome())
    }

    async fn delete(&self, cx: &Context<MyDaemonSet>, deletion: Deletion) -> Result<()> {
        let name = deletion.pod.name_any();
        let node = pod::node_of(&deletion.pod).unwrap_or_default();
        cx.delete(&deletion.pod).await?;
        cx.event(match deletion.reason {
            DeletionReason::Unneeded | DeletionReason::Outdated => {
                Event::normal("SuccessfulDelete", format!("deleted Pod {name}"))
            }
            DeletionReason::Failed(place) => {
                self.backoff.lock().record(place, cx.clock().now());
                let note = format!("Pod {name} failed on node {node} and is replaced");
                Event::warning("FailedDaemonPod", note)
            }
            DeletionReason::Succeeded => {
                let note = format!("Pod {name} succeeded on node {node} and is replaced");
                Event::normal("SucceededDaemonPod", note)
            }
        });
        Ok(())
    }
}

async fn create(cx: &Context<MyDaemonSet>, pod: Pod) -> Result<()> {
    let name = pod.name_any();
    let Err(failure) = cx.apply(&pod).await else {
        let note = format!("created Pod {name}");
        cx.event(Event::normal("SuccessfulCreate", note).action("Create"));
        return Ok(());
    };
    // The set is about to be deleted with its namespace.
    let write = failure.cause().downcast_ref::<WriteError>();
    if write.is_some_and(WriteError::is_namespace_terminating) {
        return Ok(());
    }
    let note = format!("failed to create Pod {name}: {failure}");
    cx.event(Event::warning("FailedCreate", note).action("Create"));
    Err(failure)
}
