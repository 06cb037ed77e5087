//! The discovery documents of each group and version, as the API server returns them and kubectl
//! stores them.

use serde::{Deserialize, Serialize};

/// `APIGroupList`, the response of `/apis` and the content of kubectl's `servergroups.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct GroupList {
    pub(super) kind: String,
    #[serde(rename = "apiVersion")]
    pub(super) api_version: String,
    pub(super) groups: Vec<Group>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Group {
    pub(super) name: String,
    pub(super) versions: Vec<GroupVersionName>,
    pub(super) preferred_version: GroupVersionName,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct GroupVersionName {
    pub(super) group_version: String,
    pub(super) version: String,
}

/// `APIResourceList`, the response of `/apis/GROUP/VERSION` and the content of kubectl's
/// `serverresources.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ResourceList {
    pub(super) kind: String,
    pub(super) api_version: String,
    pub(super) group_version: String,
    pub(super) resources: Vec<ResourceEntry>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ResourceEntry {
    pub(super) name: String,
    pub(super) singular_name: String,
    pub(super) namespaced: bool,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) group: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) version: String,
    pub(super) kind: String,
    pub(super) verbs: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) short_names: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) categories: Vec<String>,
}
