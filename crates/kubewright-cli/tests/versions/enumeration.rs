use kubewright::prelude::*;

#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "web.example.com", version = "v1", kind = "Site")]
pub enum SiteSpec {
    Plain { text: String },
}
