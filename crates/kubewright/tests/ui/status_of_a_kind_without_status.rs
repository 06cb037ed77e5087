//! `status` needs a kind with a typed status.

use kubewright::prelude::*;

async fn reconcile(_: Arc<ConfigMap>, cx: Context<ConfigMap>) -> Result<Outcome> {
    cx.status(|_| ()).await?;
    Ok(Outcome::done())
}

fn operator() -> Operator {
    Operator::new("maps").controller(Controller::new(reconcile))
}

fn main() {
    drop(operator());
}
