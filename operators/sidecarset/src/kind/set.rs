use kubewright::prelude::*;

use super::SidecarSetStatus;
use super::version::sidecar_set;

sidecar_set!(declare "v1beta1" {
    /// The user's name for this version; its ControllerRevision carries it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub custom_version: Option<String>,
});
