//! The kind: the spec that a user writes, and the status that the operator reports.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Affinity, Toleration};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kubewright::prelude::*;

/// One Pod on every node.
#[derive(CustomResource, Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "apps.kubewright.dev",
    version = "v1beta1",
    kind = "MyDaemonSet",
    namespaced,
    shortname = "mds",
    status = "MyDaemonSetStatus",
    printcolumn(
        name = "Available",
        type_ = "integer",
        json_path = ".status.availableReplicas"
    )
)]
#[serde(rename_all = "camelCase")]
pub struct MyDaemonSetSpec {
    /// The image that each Pod runs.
    pub image: String,
    /// Only nodes with these labels run a Pod.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub node_selector: BTreeMap<String, String>,
    /// Only nodes that match the required node affinity run a Pod.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "kubewright::schema::core::<Affinity>")]
    pub affinity: Option<Affinity>,
    /// Taints that the Pods tolerate, in addition to those that every daemon Pod tolerates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "kubewright::schema::core::<Vec<Toleration>>")]
    pub tolerations: Vec<Toleration>,
    /// Whether the Pods use the network of their node.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub host_network: bool,
    /// How many seconds a Pod must be ready before it counts as available.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub min_ready_seconds: u32,
    /// How a change of the spec is rolled out to the Pods.
    #[serde(default, skip_serializing_if = "UpdateStrategy::is_default")]
    pub update_strategy: UpdateStrategy,
}

/// How a change of the spec is rolled out to the Pods.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UpdateStrategy {
    /// How many nodes may be without an available Pod during the roll-out, as a number or as a
    /// percentage of the nodes. The default is 1, or 0 if `maxSurge` is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "kubewright::schema::int_or_string")]
    pub max_unavailable: Option<IntOrString>,
    /// How many nodes may run a new Pod beside the old one during the roll-out, as a number or as
    /// a percentage of the nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "kubewright::schema::int_or_string")]
    pub max_surge: Option<IntOrString>,
}

impl UpdateStrategy {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// How far the Pods match the spec.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct MyDaemonSetStatus {
    /// The generation of the spec that the operator has carried out last.
    pub observed_generation: i64,
    /// The number of nodes that should run a Pod.
    pub desired_replicas: i32,
    /// The number of those nodes that have a Pod.
    pub current_replicas: i32,
    /// The number of those nodes that have a Pod of the current spec.
    pub updated_replicas: i32,
    /// The number of those nodes that have a ready Pod.
    pub ready_replicas: i32,
    /// The number of those nodes that have a Pod which has been ready for `minReadySeconds`.
    pub available_replicas: i32,
    /// The number of those nodes that have no available Pod.
    pub unavailable_replicas: i32,
    /// The number of nodes that have a Pod and should not run one.
    pub misscheduled_replicas: i32,
    /// Whether the set is available, and whether a change is still being rolled out.
    #[schemars(schema_with = "kubewright::schema::conditions")]
    pub conditions: Vec<Condition>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference to its predicates"
)]
fn is_zero(number: &u32) -> bool {
    *number == 0
}
