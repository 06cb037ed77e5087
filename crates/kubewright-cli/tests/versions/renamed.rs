use kubewright::prelude::*;

#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "web.example.com", version = "v1", kind = "Site", root = "Page")]
pub struct SiteSpec {
    pub size: u32,
}
