//! A reconcile function takes the object in an `Arc`.

use kubewright::prelude::*;

async fn reconcile(map: ConfigMap, _: Context<ConfigMap>) -> Result<Outcome> {
    drop(map);
    Ok(Outcome::done())
}

fn operator() -> Operator {
    Operator::new("maps").controller(Controller::new(reconcile))
}

fn main() {
    drop(operator());
}
