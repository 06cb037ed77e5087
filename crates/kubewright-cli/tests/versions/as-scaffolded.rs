//! The kind Site and its controller.

use kubewright::prelude::*;

/// Has a ConfigMap of the same name.
#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "web.example.com",
    version = "v1",
    kind = "Site",
    namespaced,
    status = "SiteStatus",
    printcolumn(
        name = "Ready",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Ready\")].status"
    )
)]
pub struct SiteSpec {
    /// The message in the ConfigMap.
    pub message: String,
}

/// Whether the ConfigMap matches the spec.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct SiteStatus {
    /// The generation of the spec that this status describes.
    pub observed_generation: i64,
}

/// Calls `reconcile` for each object when it changes.
pub fn controller() -> Controller<Site> {
    Controller::new(reconcile)
}

async fn reconcile(_: Arc<Site>, _: Context<Site>) -> Result<Outcome> {
    Ok(Outcome::done())
}
