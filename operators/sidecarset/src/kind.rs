#![expect(
    clippy::duplicated_attributes,
    reason = "each column of the table names its type"
)]

use k8s_openapi::api::core::v1::Container;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kubewright::prelude::*;
use schemars::{Schema, SchemaGenerator, json_schema};

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
        description = "Pods that the set selects",
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
    #[schemars(schema_with = "selector_schema")]
    pub selector: Option<LabelSelector>,
    /// The containers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "containers_schema")]
    pub containers: Vec<SidecarContainer>,
}

/// A container of a Pod, and how it gets there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SidecarContainer {
    /// The container itself.
    #[serde(flatten)]
    pub container: Container,
    /// Where it stands among the containers of the Pod; before them unless said otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod_inject_policy: Option<PodInjectPolicy>,
}

/// Where a sidecar stands among the containers of a Pod.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum PodInjectPolicy {
    /// Before those that the Pod has itself.
    #[default]
    BeforeAppContainer,
    /// After them.
    AfterAppContainer,
}

/// How many Pods are what the set asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct SidecarSetStatus {
    /// The generation of the set that the counts are of.
    pub observed_generation: i64,
    /// Active Pods that the set selects.
    pub matched_pods: i32,
    /// Those with the present containers of the set.
    pub updated_pods: i32,
    /// Those that run and are ready.
    pub ready_pods: i32,
}

fn selector_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "description": "Which Pods get the containers; it must not be empty.",
        "properties": {
            "matchLabels": {"type": "object", "additionalProperties": {"type": "string"}},
            "matchExpressions": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["key", "operator"],
                    "properties": {
                        "key": {"type": "string"},
                        "operator": {"type": "string"},
                        "values": {"type": "array", "items": {"type": "string"}}
                    }
                }
            }
        }
    })
}

/// As in OpenKruise's own definition, a container is not described further: what Kubernetes adds to
/// it is taken at once.
fn containers_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "description": "The containers.",
        "items": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}
    })
}
