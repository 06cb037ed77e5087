//! Validation rules in the definition of a custom resource: the API server evaluates them itself, also
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
    /// The lower end.
    pub(crate) low: i32,
    /// The upper end.
    pub(crate) high: i32,
    /// The material, which is immutable.
    #[x_kube(validation = Rule::new("self == oldSelf").message("the material cannot be changed"))]
    pub(crate) material: String,
}

/// The status of a ladder.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub(crate) struct LadderStatus {
    /// The length.
    pub(crate) length: i32,
}

pub(crate) fn operator() -> Operator {
    Operator::new("ladders").controller(Controller::new(reconcile))
}

/// Relies on the rules: the API server has evaluated them.
async fn reconcile(ladder: Arc<Ladder>, cx: Context<Ladder>) -> Result<Outcome> {
    let length = ladder.spec.high - ladder.spec.low;
    cx.status(|status| status.length = length).await?;
    Ok(Outcome::done())
}

fn main() -> ExitCode {
    operator().main()
}
