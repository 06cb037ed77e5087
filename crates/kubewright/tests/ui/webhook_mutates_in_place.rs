//! A mutating function takes and returns the object.

use kubewright::prelude::*;
use kubewright::webhook::{Admission, Denied};

async fn admit(pod: &mut Pod, _: Admission) -> Result<(), Denied> {
    pod.labels_mut().clear();
    Ok(())
}

fn main() {
    drop(Operator::new("pods").webhook(Webhook::mutates(admit)));
}
