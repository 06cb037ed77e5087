//! The future of a reconcile function is `Send`.

use kubewright::prelude::*;

async fn reconcile(map: Arc<ConfigMap>, cx: Context<ConfigMap>) -> Result<Outcome> {
    let local = std::rc::Rc::new(1);
    cx.delete(&map).await?;
    drop(local);
    Ok(Outcome::done())
}

fn operator() -> Operator {
    Operator::new("maps").controller(Controller::new(reconcile))
}

fn main() {
    drop(operator());
}
