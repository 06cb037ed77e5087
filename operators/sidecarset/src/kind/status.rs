use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kubewright::prelude::*;

/// How many Pods are what the set asks for, and what it is waiting for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct SidecarSetStatus {
    /// The generation of the set that the counts are of.
    pub observed_generation: i64,
    /// Active Pods that have the containers of the set.
    pub matched_pods: i32,
    /// Those of them with the present version of the containers.
    pub updated_pods: i32,
    /// Those of them that run and are ready.
    pub ready_pods: i32,
    /// Those of them that are both.
    pub updated_ready_pods: i32,
    /// Pods with an older version that only a new Pod can bring up to date.
    pub not_upgradable_pods: i32,
    /// Active Pods that the set selects and that do not have its containers, such as older ones.
    pub uninjected_pods: i32,
    /// The ControllerRevision that keeps the present version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latest_revision: Option<String>,
    /// How often a name for a ControllerRevision was taken already.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collision_count: Option<i32>,
    /// How far the set is, and what it waits for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "kubewright::schema::conditions")]
    pub conditions: Vec<Condition>,
}
