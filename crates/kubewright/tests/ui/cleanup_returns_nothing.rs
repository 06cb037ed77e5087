//! A cleanup function returns an outcome.

use kubewright::prelude::*;

async fn reconcile(_: Arc<Pod>, _: Context<Pod>) -> Result<Outcome> {
    Ok(Outcome::done())
}

async fn cleanup(_: Arc<Pod>, _: Context<Pod>) {}

fn main() {
    Controller::new(reconcile).finalizer("ex.io/cleanup", cleanup);
}
