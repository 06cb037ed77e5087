//! `changed::taints` is a predicate of nodes.

use kubewright::prelude::*;

async fn reconcile(_: Arc<ConfigMap>, _: Context<ConfigMap>) -> Result<Outcome> {
    Ok(Outcome::done())
}

fn operator() -> Operator {
    let pods = kind::<Pod>().when(changed::taints());
    Operator::new("maps").controller(Controller::new(reconcile).owns(pods))
}

fn main() {
    drop(operator());
}
