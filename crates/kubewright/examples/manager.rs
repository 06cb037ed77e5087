//! An operator with leader election, probes, metrics and a task.
//!
//! ```text
//! manager --leader-elect --health-probe-bind-address=:8081 --metrics-bind-address=:8443
//! ```

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};

use kubewright::TaskContext;
use kubewright::election::LeaderElection;
use kubewright::metrics::{Exposition, MetricKind};
use kubewright::prelude::*;

/// A lamp that is switched on or off.
#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "examples.kubewright.dev", version = "v1", kind = "Lamp")]
#[kube(namespaced, status = "LampStatus")]
pub(crate) struct LampSpec {
    pub(crate) on: bool,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct LampStatus {
    pub(crate) lit: bool,
}

/// The values of the metrics.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    switches: AtomicU64,
    rounds: AtomicU64,
}

async fn switch(counters: Arc<Counters>, lamp: Arc<Lamp>, cx: Context<Lamp>) -> Result<Outcome> {
    if lamp.status.as_ref().map(|status| status.lit) != Some(lamp.spec.on) {
        counters.switches.fetch_add(1, Ordering::Relaxed);
    }
    cx.status(|status| status.lit = lamp.spec.on).await?;
    Ok(Outcome::done())
}

/// Counts a round each minute, on the leader.
async fn walk(counters: Arc<Counters>, cx: TaskContext) -> Result<()> {
    loop {
        counters.rounds.fetch_add(1, Ordering::Relaxed);
        tokio::select! {
            () = cx.stopping() => return Ok(()),
            () = tokio::time::sleep(Duration::from_secs(60)) => {}
        }
    }
}

pub(crate) fn operator() -> Operator {
    let counters = Arc::new(Counters::default());
    let (in_task, in_metrics) = (Arc::clone(&counters), Arc::clone(&counters));
    Operator::new("lamplighter")
        .controller(Controller::with(counters, switch))
        .leader_election(LeaderElection::default())
        .leader_task("walk", move |cx| walk(Arc::clone(&in_task), cx))
        .healthz("ladder", || async { Ok(()) })
        .readyz("oil", || async { Ok(()) })
        .metrics(move |page: &mut Exposition| {
            for (name, help, count) in [
                (
                    "lamps_switched_total",
                    "Lamps switched.",
                    &in_metrics.switches,
                ),
                ("rounds_total", "Rounds walked.", &in_metrics.rounds),
            ] {
                let count = count.load(Ordering::Relaxed);
                page.family(name, help, MetricKind::Counter)
                    .count(&[], count);
            }
        })
}

fn main() -> ExitCode {
    operator().main()
}
