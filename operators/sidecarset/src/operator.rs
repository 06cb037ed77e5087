use std::sync::Arc;

use kubewright::prelude::*;
use kubewright::{Cache, Reinvocation};

use crate::{SidecarSet, check, count, fill_in, inject, injected, selects};

/// The operator: sets are filled in and checked, Pods get their sidecars, and the sets count them.
pub fn operator() -> Operator {
    Operator::new("sidecarset")
        .version(env!("CARGO_PKG_VERSION"))
        .controller(
            Controller::new(reconcile)
                .watches(kind::<Pod>(), sets_of)
                .workers(4),
        )
        .webhook(Webhook::defaults(fill_in))
        .webhook(Webhook::validates(check))
        .webhook(
            Webhook::mutates(admit)
                .on(Operation::Create)
                .reads(kind::<SidecarSet>())
                // A sidecar of another injector may come later.
                .reinvoke(Reinvocation::IfNeeded),
        )
}

async fn reconcile(set: Arc<SidecarSet>, cx: Context<SidecarSet>) -> Result<Outcome> {
    let counts = count(&set, cx.list::<Pod>()?.iter());
    cx.status(|status| *status = counts).await?;
    Ok(Outcome::done())
}

async fn admit(pod: Pod, cx: Admission) -> Result<Pod, Denied> {
    let sets = cx.list::<SidecarSet>()?;
    inject(pod, cx.namespace(), sets.iter())
        .map_err(|conflict| Denied::because(conflict.to_string()))
}

/// The sets that count this Pod, or whose containers it has.
fn sets_of(pod: &Pod, sets: &Cache<SidecarSet>) -> Vec<ObjectKey> {
    let namespace = pod.namespace().unwrap_or_default();
    let done = injected(pod);
    let concerned =
        |set: &Arc<SidecarSet>| done.contains_key(&set.name_any()) || selects(set, pod, &namespace);
    let sets = sets.list();
    let concerned = sets.iter().filter(concerned);
    concerned
        .map(|set| ObjectKey::cluster_scoped(&set.name_any()))
        .collect()
}
