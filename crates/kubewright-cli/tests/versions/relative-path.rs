use kubewright::prelude::*;

#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "web.example.com", version = "v1", kind = "Site")]
pub struct SiteSpec {
    pub size: u32,
    pub pages: Vec<super::Page>,
}
