use kubewright::prelude::*;

#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "web.example.com", version = "v1", kind = "Site")]
pub struct SiteSpec {
    #[serde(default = "default_size")]
    pub size: u32,
}

fn default_size() -> u32 {
    1
}
