//! Rules of a kind of one's own, in its definition: the API server follows them by itself, also
//! while the operator is down.

use std::process::ExitCode;

use kubewright::kube::KubeSchema;
use kubewright::prelude::*;

/// A ladder.
#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, KubeSchema)]
#[kube(
    group = "tools.example.com",
    version = "v1",
    kind = "Ladder",
    namespaced,
    status = "LadderStatus"
)]
#[x_kube(validation = Rule::new("self.low <= self.high").message("low must not be above high"))]
pub(crate) struct LadderSpec {
    /// Where it begins.
    pub(crate) low: i32,
    /// Where it ends.
    pub(crate) high: i32,
    /// What it is made of, for ever.
    #[x_kube(validation = Rule::new("self == oldSelf").message("the material cannot be changed"))]
    pub(crate) material: String,
}

/// What is known of a ladder.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub(crate) struct LadderStatus {
    /// How long it is.
    pub(crate) length: i32,
}

pub(crate) fn operator() -> Operator {
    Operator::new("ladders").controller(Controller::new(reconcile))
}

/// It need not ask whether the rules hold.
async fn reconcile(ladder: Arc<Ladder>, cx: Context<Ladder>) -> Result<Outcome> {
    let length = ladder.spec.high - ladder.spec.low;
    cx.status(|status| status.length = length).await?;
    Ok(Outcome::done())
}

fn main() -> ExitCode {
    operator().main()
}
