//! A reconcile function returns an outcome.

use kubewright::prelude::*;

async fn reconcile(_: Arc<ConfigMap>, _: Context<ConfigMap>) {}

fn operator() -> Operator {
    Operator::new("maps").controller(Controller::new(reconcile))
}

fn main() {
    drop(operator());
}
