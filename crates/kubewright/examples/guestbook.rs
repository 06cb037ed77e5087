//! Guestbook, the kind of kubebuilder's quick start: Pods that read their configuration from a
//! ConfigMap; one is active and the others are standbys.

use std::process::ExitCode;

use kubewright::prelude::*;
use serde_json::json;

/// A guest book.
#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "webapp.example.com", version = "v1", kind = "Guestbook")]
#[kube(namespaced, status = "GuestbookStatus")]
#[serde(rename_all = "camelCase")]
pub(crate) struct GuestbookSpec {
    /// The number of Pods.
    #[schemars(range(min = 1, max = 10))]
    pub(crate) size: usize,
    /// The ConfigMap with their configuration.
    #[schemars(length(min = 1, max = 15))]
    pub(crate) config_map_name: String,
    /// The identity of guests.
    pub(crate) alias: Alias,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) enum Alias {
    Phone,
    Address,
    Name,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct GuestbookStatus {
    /// The Pod that guests write to.
    pub(crate) active: String,
    /// The Pods that can replace it.
    pub(crate) standby: Vec<String>,
}

async fn reconcile(book: Arc<Guestbook>, cx: Context<Guestbook>) -> Result<Outcome> {
    let names: Vec<String> = (0..book.spec.size)
        .map(|number| format!("{}-{number}", book.name_any()))
        .collect();
    for name in &names {
        cx.apply(&pod(&book, name)?).await?;
    }
    let pods = cx.owned::<Pod>()?;
    for surplus in pods.iter().filter(|pod| !names.contains(&pod.name_any())) {
        cx.delete(&surplus).await?;
    }
    let mut serving: Vec<String> = pods
        .iter()
        .filter(|pod| names.contains(&pod.name_any()) && is_running(pod))
        .map(|pod| pod.name_any())
        .collect();
    serving.sort();
    let mut serving = serving.into_iter();
    cx.status(|status| {
        status.active = serving.next().unwrap_or_default();
        status.standby = serving.collect();
    })
    .await?;
    Ok(Outcome::done())
}

fn is_running(pod: &Pod) -> bool {
    let phase = pod
        .status
        .as_ref()
        .and_then(|status| status.phase.as_deref());
    phase == Some("Running")
}

fn pod(book: &Guestbook, name: &str) -> Result<Pod> {
    let pod = json!({
        "metadata": {"name": name},
        "spec": {"containers": [{
            "name": "guestbook",
            "image": "guestbook:1",
            "env": [{"name": "ALIAS", "value": format!("{:?}", book.spec.alias)}],
            "envFrom": [{"configMapRef": {"name": book.spec.config_map_name, "optional": true}}],
        }]},
    });
    Ok(serde_json::from_value(pod)?)
}

pub(crate) fn operator() -> Operator {
    Operator::new("guestbook").controller(Controller::new(reconcile).owns(kind::<Pod>()))
}

fn main() -> ExitCode {
    operator().main()
}
