//! A reconcile function is async.

use kubewright::prelude::*;

fn reconcile(_: Arc<ConfigMap>, _: Context<ConfigMap>) -> Result<Outcome> {
    Ok(Outcome::done())
}

fn operator() -> Operator {
    Operator::new("maps").controller(Controller::new(reconcile))
}

fn main() {
    drop(operator());
}
