//! The status of a set.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;

use kubewright::prelude::*;

/// The counts of the Pods of a set, and its conditions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct SidecarSetStatus {
    /// The generation of the set to which the counts belong.
    pub observed_generation: i64,
    /// The number of active Pods that have the containers of the set.
    pub matched_pods: i32,
    /// The number of matched Pods that have the current version of the containers.
    pub updated_pods: i32,
    /// The number of matched Pods that are ready.
    pub ready_pods: i32,
    /// The number of matched Pods that are updated and ready.
    pub updated_ready_pods: i32,
    /// The number of outdated Pods that cannot be updated in place and have to be recreated.
    pub not_upgradable_pods: i32,
    /// The number of active Pods that the set selects but that do not have its containers, such as
    /// Pods that are older than the set.
    pub uninjected_pods: i32,
    /// The ControllerRevision of the current version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latest_revision: Option<String>,
    /// How often the name of a ControllerRevision was taken by another version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collision_count: Option<i32>,
    /// The progress of the roll-out, and whether all Pods are injected.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "kubewright::schema::conditions")]
    pub conditions: Vec<Condition>,
}
