//! What a manager does beside its controllers: several copies of which one works, probes, metrics
//! and tasks of its own.
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

/// What the metrics tell.
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

/// The leader walks by once a minute.
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
    let (walked, written) = (Arc::clone(&counters), Arc::clone(&counters));
    Operator::new("lamplighter")
        .controller(Controller::with(counters, switch))
        .leader_election(LeaderElection::default())
        .leader_task("walk", move |cx| walk(Arc::clone(&walked), cx))
        .healthz("ladder", || async { Ok(()) })
        .readyz("oil", || async { Ok(()) })
        .metrics(move |page: &mut Exposition| {
            for (name, help, count) in [
                ("lamps_switched_total", "Lamps switched.", &written.switches),
                ("rounds_total", "Rounds walked.", &written.rounds),
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
