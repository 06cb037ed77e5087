//! A timer as source: each clock is reconciled once a minute, also without a change.

use std::process::ExitCode;

use kubewright::controller::sources;
use kubewright::prelude::*;

/// Shows the time.
#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "examples.kubewright.dev", version = "v1", kind = "Clock")]
#[kube(namespaced, status = "ClockStatus")]
pub(crate) struct ClockSpec {}

#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ClockStatus {
    /// Hours and minutes.
    pub(crate) shows: String,
}

async fn reconcile(_: Arc<Clock>, cx: Context<Clock>) -> Result<Outcome> {
    let shows = cx.clock().now().strftime("%H:%M").to_string();
    cx.status(|status| status.shows = shows).await?;
    Ok(Outcome::done())
}

pub(crate) fn operator() -> Operator {
    let minute = Duration::from_secs(60);
    Operator::new("clocks").controller(
        Controller::new(reconcile)
            // Changes of the status enqueue nothing.
            .when(changed::generation())
            .source("minute", sources::every(minute), enqueue::all()),
    )
}

fn main() -> ExitCode {
    operator().main()
}
