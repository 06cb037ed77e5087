use std::collections::{BTreeMap, BTreeSet};

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "web.example.com", kind = "Site", version = "v1")]
#[serde(rename_all = "camelCase")]
pub struct SiteSpec {
    #[serde(default = "default_pages")]
    pub pages: BTreeMap<String, Page>, // by path
    pub r#type: Option<Type>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Page {
    pub tags: BTreeSet<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub enum Type {
    Plain,
}

pub(crate) fn default_pages() -> BTreeMap<String, Page> {
    BTreeMap::new()
}
