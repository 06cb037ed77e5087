//! One Pod on every node: the operator that the tutorial builds.

mod failed;
mod kind;
mod node;
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

pub use failed::FailedPods;
pub use kind::{MyDaemonSet, MyDaemonSetSpec, MyDaemonSetStatus, UpdateStrategy};
pub use plan::{Plan, Situation, Surplus, Why};

/// The operator: what it watches is what it may do.
pub fn operator() -> Operator {
    Operator::new("mydaemonset")
        .version(env!("CARGO_PKG_VERSION"))
        .controller(
            Controller::with(Sets::default(), Sets::reconcile)
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

/// What a set must have before it is stored.
fn check(change: &Change<MyDaemonSet>, findings: &mut Findings) {
    let Some(set) = change.object() else { return };
    if set.spec.image.trim().is_empty() {
        findings.required("spec.image", "image is required");
    }
    roll_out::check(&set.spec.update_strategy, findings);
}

/// What the operator remembers between two runs.
#[derive(Debug, Default)]
struct Sets {
    failed: Mutex<FailedPods>,
}

impl Sets {
    async fn reconcile(
        self: Arc<Self>,
        set: Arc<MyDaemonSet>,
        cx: Context<MyDaemonSet>,
    ) -> Result<Outcome> {
        let plan = Plan::new(&Situation {
            set: &set,
            nodes: &cx.list::<Node>()?,
            pods: &cx.owned::<Pod>()?,
            failed: &self.failed.lock(),
            now: cx.clock().now(),
        });
        let made = slow_start(plan.missing(), |pod| create(&cx, pod)).await;
        let deleted = slow_start(plan.surplus(), |one| self.delete(&set, &cx, one)).await;
        let done = made.and(deleted);
        cx.status(|status| plan.report(status, done.is_ok()))
            .await?;
        done.map(|()| plan.outcome())
    }

    async fn delete(
        &self,
        set: &MyDaemonSet,
        cx: &Context<MyDaemonSet>,
        surplus: Surplus,
    ) -> Result<()> {
        let name = surplus.pod.name_any();
        cx.delete(&surplus.pod).await?;
        let node = pod::node_of(&surplus.pod).unwrap_or_default();
        cx.event(match surplus.why {
            Why::Unwanted | Why::Outdated => {
                Event::normal("SuccessfulDelete", format!("deleted Pod {name}"))
            }
            Why::Failed => {
                let place = plan::place(set, node);
                self.failed.lock().note(place, cx.clock().now());
                let note = format!("Pod {name} failed on node {node}; another takes its place");
                Event::warning("FailedDaemonPod", note)
            }
            Why::Succeeded => {
                let note = format!("Pod {name} ended on node {node}; another takes its place");
                Event::normal("SucceededDaemonPod", note)
            }
        });
        Ok(())
    }
}

async fn create(cx: &Context<MyDaemonSet>, pod: Pod) -> Result<()> {
    let name = pod.name_any();
    let Err(failure) = cx.apply(&pod).await else {
        let note = format!("made Pod {name}");
        cx.event(Event::normal("SuccessfulCreate", note).action("Create"));
        return Ok(());
    };
    let write = failure.cause().downcast_ref::<WriteError>();
    if write.is_some_and(WriteError::is_namespace_terminating) {
        return Ok(());
    }
    let note = format!("Pod {name} could not be made: {failure}");
    cx.event(Event::warning("FailedCreate", note).action("Create"));
    Err(failure)
}
