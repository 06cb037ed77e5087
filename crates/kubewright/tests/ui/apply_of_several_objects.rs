//! `apply` takes one object, not a list.

use kubewright::prelude::*;

async fn reconcile(_: Arc<ConfigMap>, cx: Context<ConfigMap>) -> Result<Outcome> {
    let pods = vec![Pod::default()];
    cx.apply(&pods).await?;
    Ok(Outcome::done())
}

fn operator() -> Operator {
    Operator::new("maps").controller(Controller::new(reconcile))
}

fn main() {
    drop(operator());
}
