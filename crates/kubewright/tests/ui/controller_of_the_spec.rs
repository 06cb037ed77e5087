//! The kind is the struct that the derive generates, not the spec.

use kubewright::prelude::*;

#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "ex.io", version = "v1", kind = "Site", namespaced)]
pub struct SiteSpec {
    pub text: String,
}

async fn reconcile(_: Arc<SiteSpec>, _: Context<SiteSpec>) -> Result<Outcome> {
    Ok(Outcome::done())
}

fn operator() -> Operator {
    Operator::new("sites").controller(Controller::new(reconcile))
}

fn main() {
    drop(operator());
}
