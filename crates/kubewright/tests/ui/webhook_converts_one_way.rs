//! A conversion needs functions in both directions.

use kubewright::prelude::*;

mod old {
    use kubewright::prelude::*;

    #[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
    #[kube(group = "example.com", version = "v1alpha1", kind = "Site", namespaced)]
    pub struct SiteSpec {
        pub text: String,
    }
}

#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "example.com", version = "v1", kind = "Site", namespaced)]
pub struct SiteSpec {
    pub page: String,
}

fn to_hub(old: old::Site) -> Site {
    let spec = SiteSpec { page: old.spec.text };
    Site { metadata: old.metadata, spec }
}

fn main() {
    drop(Operator::new("sites").webhook(Webhook::converts(to_hub, to_hub)));
}
