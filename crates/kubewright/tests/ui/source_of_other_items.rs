//! The mapper of a source takes the items of its stream.

use kubewright::controller::sources;
use kubewright::prelude::*;

async fn reconcile(_: Arc<Pod>, _: Context<Pod>) -> Result<Outcome> {
    Ok(Outcome::done())
}

fn main() {
    let hourly = sources::every(Duration::from_secs(3600));
    Controller::new(reconcile).source("hourly", hourly, enqueue::itself());
}
