//! The kind: what a user asks for, and what is told about it.

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
    /// Only nodes that its required node affinity matches run a Pod.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "kubewright::schema::core::<Affinity>")]
    pub affinity: Option<Affinity>,
    /// Taints that Pods put up with, beside those that every Pod of a set does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "kubewright::schema::core::<Vec<Toleration>>")]
    pub tolerations: Vec<Toleration>,
    /// Whether Pods use the network of their node.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub host_network: bool,
    /// How long a Pod is ready before it counts as available.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub min_ready_seconds: u32,
    /// How a change reaches the Pods.
    #[serde(default, skip_serializing_if = "UpdateStrategy::is_usual")]
    pub update_strategy: UpdateStrategy,
}

/// How a change of the spec reaches the Pods.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UpdateStrategy {
    /// How many nodes may be without an available Pod meanwhile, as a number or in percent of the
    /// nodes; 1 unless `maxSurge` is given, which takes its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "kubewright::schema::int_or_string")]
    pub max_unavailable: Option<IntOrString>,
    /// How many nodes may run a new Pod beside the old one meanwhile, as a number or in percent of
    /// the nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "kubewright::schema::int_or_string")]
    pub max_surge: Option<IntOrString>,
}

impl UpdateStrategy {
    fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

/// How far the Pods are what the spec asks for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct MyDaemonSetStatus {
    /// The generation of the spec that was carried out last.
    pub observed_generation: i64,
    /// How many nodes should run a Pod.
    pub desired_replicas: i32,
    /// How many of them have one.
    pub current_replicas: i32,
    /// How many of them have one that runs the present spec.
    pub updated_replicas: i32,
    /// How many of them have one that is ready.
    pub ready_replicas: i32,
    /// How many of them have one that has been ready for long enough.
    pub available_replicas: i32,
    /// How many of them have none that has.
    pub unavailable_replicas: i32,
    /// How many nodes have a Pod that should not run one.
    pub misscheduled_replicas: i32,
    /// Whether the set as a whole is available, and whether it is still changing.
    #[schemars(schema_with = "kubewright::schema::conditions")]
    pub conditions: Vec<Condition>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands a reference to its predicates"
)]
fn is_zero(number: &u32) -> bool {
    *number == 0
}
