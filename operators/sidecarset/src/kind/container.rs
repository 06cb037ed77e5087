//! The containers of a set.

use k8s_openapi::api::core::v1::{Container, ObjectFieldSelector};
use kubewright::prelude::*;

use super::is_default;

/// A container to inject, and how it is injected and updated.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SidecarContainer {
    /// The container itself.
    #[serde(flatten)]
    pub container: Container,
    /// Its position among the containers of the Pod. The default is before them, and for init
    /// containers after them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod_inject_policy: Option<PodInjectPolicy>,
    /// How the image is updated in a running Pod.
    #[serde(default, skip_serializing_if = "is_default")]
    pub upgrade_strategy: UpgradeStrategy,
    /// Whether it gets the volume mounts of the containers of the Pod.
    #[serde(default, skip_serializing_if = "is_default")]
    pub share_volume_policy: ShareVolumePolicy,
    /// Whether it gets the volume devices of the containers of the Pod.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share_volume_device_policy: Option<ShareVolumePolicy>,
    /// Environment variables that it gets from the containers of the Pod.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub transfer_env: Vec<TransferEnv>,
    /// How its resources are computed from those of the containers of the Pod.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources_policy: Option<ResourcesPolicy>,
}

impl SidecarContainer {
    /// Whether a new image is started beside the old one.
    pub fn is_hot(&self) -> bool {
        self.upgrade_strategy.upgrade_type == Some(UpgradeType::HotUpgrade)
    }

    /// Whether it is a native sidecar of Kubernetes: an init container that keeps running.
    pub fn is_native(&self) -> bool {
        self.container.restart_policy.as_deref() == Some("Always")
    }
}

/// The position of a sidecar among the containers of a Pod.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum PodInjectPolicy {
    /// Before the containers of the Pod itself.
    #[default]
    BeforeAppContainer,
    /// After the containers of the Pod itself.
    AfterAppContainer,
}

/// How the image is updated in a running Pod.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct UpgradeStrategy {
    /// The type; the default is a cold upgrade.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upgrade_type: Option<UpgradeType>,
    /// The image of the idle container of a hot upgrade, which does nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hot_upgrade_empty_image: Option<String>,
}

/// Whether a sidecar is interrupted while its image is updated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum UpgradeType {
    /// The container is restarted with the new image.
    #[default]
    ColdUpgrade,
    /// A second container starts with the new image and takes over.
    HotUpgrade,
}

/// Whether volumes of the containers of the Pod are shared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ShareVolumePolicy {
    /// The policy; the default is disabled.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub share: Option<SharePolicy>,
}

impl ShareVolumePolicy {
    /// Whether sharing is enabled.
    pub fn is_enabled(&self) -> bool {
        self.share == Some(SharePolicy::Enabled)
    }
}

/// Whether volumes are shared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SharePolicy {
    /// They are shared.
    Enabled,
    /// They are not shared.
    #[default]
    Disabled,
}

/// Environment variables from one container of the Pod.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TransferEnv {
    /// The name of the container.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub source_container_name: String,
    /// The field of the Pod that holds the name of the container.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_container_name_from: Option<SourceContainerName>,
    /// The name of a variable.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub env_name: String,
    /// The names of more variables.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub env_names: Vec<String>,
}

/// The field of the Pod that holds the name of a container.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SourceContainerName {
    /// `metadata.name`, `metadata.labels['KEY']` or `metadata.annotations['KEY']`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field_ref: Option<ObjectFieldSelector>,
}

/// How the resources of a sidecar are computed from those of the containers of the Pod.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourcesPolicy {
    /// How the amounts of several containers are combined.
    pub target_containers_mode: TargetContainersMode,
    /// A regular expression for the names of the containers; the default matches all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_containers_name_regex: Option<String>,
    /// The expressions for the resources of the sidecar.
    pub resources_expr: ResourcesExpressions,
}

/// How the amounts of several containers are combined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TargetContainersMode {
    /// Their sum.
    #[default]
    Sum,
    /// The largest one.
    Max,
}

/// The expressions for the resources of a sidecar, such as `max(cpu * 50%, 50m)`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourcesExpressions {
    /// The limits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<ResourcesExpression>,
    /// The requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<ResourcesExpression>,
}

/// The expressions for CPU and memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourcesExpression {
    /// An expression over the variable `cpu`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<String>,
    /// An expression over the variable `memory`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<String>,
}
