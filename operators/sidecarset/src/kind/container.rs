use k8s_openapi::api::core::v1::{Container, ObjectFieldSelector};
use kubewright::prelude::*;

use super::is_default;

/// A container of a Pod, and how it gets there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SidecarContainer {
    /// The container itself.
    #[serde(flatten)]
    pub container: Container,
    /// Where it stands among the containers of the Pod; before them unless said otherwise, and
    /// after them among those that run first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod_inject_policy: Option<PodInjectPolicy>,
    /// How a newer image gets into a running Pod.
    #[serde(default, skip_serializing_if = "is_default")]
    pub upgrade_strategy: UpgradeStrategy,
    /// Whether it mounts what the containers of the Pod mount.
    #[serde(default, skip_serializing_if = "is_default")]
    pub share_volume_policy: ShareVolumePolicy,
    /// Whether it has the devices that the containers of the Pod have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share_volume_device_policy: Option<ShareVolumePolicy>,
    /// Environment variables of the Pod's containers that it gets, too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub transfer_env: Vec<TransferEnv>,
    /// Its resources, computed from those of the Pod's containers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources_policy: Option<ResourcesPolicy>,
}

impl SidecarContainer {
    /// Whether a new image starts beside the old one.
    pub fn is_hot(&self) -> bool {
        self.upgrade_strategy.upgrade_type == Some(UpgradeType::HotUpgrade)
    }

    /// Whether it is a sidecar in Kubernetes' own sense: it starts first and runs on.
    pub fn is_native(&self) -> bool {
        self.container.restart_policy.as_deref() == Some("Always")
    }
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

/// How a newer image gets into a running Pod.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct UpgradeStrategy {
    /// Stopped and started again unless said otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upgrade_type: Option<UpgradeType>,
    /// For a hot upgrade: the image that does nothing, for the container that waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hot_upgrade_empty_image: Option<String>,
}

/// Whether a sidecar pauses while its image changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum UpgradeType {
    /// It is stopped and started again.
    #[default]
    ColdUpgrade,
    /// A second container takes over.
    HotUpgrade,
}

/// Whether something of the Pod's containers is shared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ShareVolumePolicy {
    /// Not unless said otherwise.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub share: Option<SharePolicy>,
}

impl ShareVolumePolicy {
    /// Whether it is.
    pub fn is_enabled(&self) -> bool {
        self.share == Some(SharePolicy::Enabled)
    }
}

/// Whether something is shared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SharePolicy {
    /// It is.
    Enabled,
    /// It is not.
    #[default]
    Disabled,
}

/// Environment variables of one of the Pod's containers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TransferEnv {
    /// The container.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub source_container_name: String,
    /// Where the Pod says which container.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_container_name_from: Option<SourceContainerName>,
    /// The variable.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub env_name: String,
    /// More variables.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub env_names: Vec<String>,
}

/// Where the Pod says which container.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SourceContainerName {
    /// `metadata.name`, `metadata.labels['KEY']` or `metadata.annotations['KEY']`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field_ref: Option<ObjectFieldSelector>,
}

/// The resources of a sidecar, computed from those of the Pod's containers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourcesPolicy {
    /// How several containers become one number.
    pub target_containers_mode: TargetContainersMode,
    /// Which containers; all unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_containers_name_regex: Option<String>,
    /// What the sidecar gets.
    pub resources_expr: ResourcesExpressions,
}

/// How several containers become one number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TargetContainersMode {
    /// All together.
    #[default]
    Sum,
    /// The largest.
    Max,
}

/// What a sidecar gets: `max(cpu * 50%, 50m)`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourcesExpressions {
    /// At most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<ResourcesExpression>,
    /// At least.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<ResourcesExpression>,
}

/// An expression over the variable `cpu` or `memory`, for each of the two.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourcesExpression {
    /// With the variable `cpu`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<String>,
    /// With the variable `memory`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<String>,
}
