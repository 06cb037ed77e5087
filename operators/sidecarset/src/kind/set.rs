#![expect(
    clippy::duplicated_attributes,
    reason = "each column of the table names its type"
)]

use k8s_openapi::api::core::v1::{LocalObjectReference, Volume};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kubewright::prelude::*;

use super::{
    InjectionStrategy, PatchPodMetadata, SidecarContainer, SidecarSetStatus, UpdateStrategy,
    is_default,
};

/// Containers that are put into each Pod that the set selects.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[kube(
    group = "apps.kruise.io",
    version = "v1beta1",
    kind = "SidecarSet",
    status = "SidecarSetStatus",
    printcolumn(
        name = "MATCHED",
        type_ = "integer",
        description = "Pods that have the containers of the set",
        json_path = ".status.matchedPods"
    ),
    printcolumn(
        name = "UPDATED",
        type_ = "integer",
        description = "Pods with the present containers of the set",
        json_path = ".status.updatedPods"
    ),
    printcolumn(
        name = "READY",
        type_ = "integer",
        description = "Pods that are ready",
        json_path = ".status.readyPods"
    ),
    printcolumn(
        name = "AGE",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
pub struct SidecarSetSpec {
    /// Which Pods get the containers; it must not be empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "super::selector")]
    pub selector: Option<LabelSelector>,
    /// In which namespaces; in all unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "super::selector")]
    pub namespace_selector: Option<LabelSelector>,
    /// Containers that run before the others, or beside them with `restartPolicy: Always`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "super::containers")]
    pub init_containers: Vec<SidecarContainer>,
    /// The containers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "super::containers")]
    pub containers: Vec<SidecarContainer>,
    /// Volumes that the containers mount; those that none mounts are left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "super::volumes")]
    pub volumes: Vec<Volume>,
    /// How Pods that have the containers get newer ones.
    #[serde(skip_serializing_if = "is_default")]
    pub update_strategy: UpdateStrategy,
    /// What new Pods get.
    #[serde(skip_serializing_if = "is_default")]
    pub injection_strategy: InjectionStrategy,
    /// Secrets for the images of the containers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "kubewright::schema::core::<Vec<LocalObjectReference>>")]
    pub image_pull_secrets: Vec<LocalObjectReference>,
    /// How many versions are kept to go back to; 10 unless given, at least 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision_history_limit: Option<i32>,
    /// Annotations for the Pods.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub patch_pod_metadata: Vec<PatchPodMetadata>,
    /// The user's name for this version; its ControllerRevision carries it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub custom_version: Option<String>,
}
