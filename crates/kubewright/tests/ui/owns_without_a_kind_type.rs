//! `kind` needs the type of the kind.

use kubewright::prelude::*;

async fn reconcile(_: Arc<ConfigMap>, _: Context<ConfigMap>) -> Result<Outcome> {
    Ok(Outcome::done())
}

fn operator() -> Operator {
    Operator::new("maps").controller(Controller::new(reconcile).owns(kind()))
}

fn main() {
    drop(operator());
}
