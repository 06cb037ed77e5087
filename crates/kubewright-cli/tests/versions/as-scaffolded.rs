//! Site: the kind, and what is done for each object of it.

use kubewright::prelude::*;

/// Keeps a ConfigMap of its own name.
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
    /// What the ConfigMap says.
    pub message: String,
}

/// How far the ConfigMap is what the spec asks for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct SiteStatus {
    /// The generation of the spec that the other fields speak of.
    pub observed_generation: i64,
}

/// Calls `reconcile` for each object when it changes.
pub fn controller() -> Controller<Site> {
    Controller::new(reconcile)
}

async fn reconcile(_: Arc<Site>, _: Context<Site>) -> Result<Outcome> {
    Ok(Outcome::done())
}
