//! A mapper returns keys, not names.

use k8s_openapi::api::core::v1::Node;
use kubewright::prelude::*;

async fn reconcile(_: Arc<ConfigMap>, _: Context<ConfigMap>) -> Result<Outcome> {
    Ok(Outcome::done())
}

fn operator() -> Operator {
    let by_name = |node: &Node, _: &kubewright::controller::Cache<ConfigMap>| vec![node.name_any()];
    Operator::new("maps").controller(Controller::new(reconcile).watches(kind::<Node>(), by_name))
}

fn main() {
    drop(operator());
}
