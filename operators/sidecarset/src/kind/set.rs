//! The stored version of the kind, `v1beta1`.

use kubewright::prelude::*;

use super::version::sidecar_set;
use super::{SidecarContainer, SidecarSetStatus};

sidecar_set!(declare "v1beta1" {
    /// The user's name for this version, which becomes a label of its ControllerRevision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub custom_version: Option<String>,
});

impl SidecarSet {
    /// Returns the init containers that run as long as the Pod.
    pub(crate) fn native_sidecars(&self) -> impl Iterator<Item = &SidecarContainer> {
        let init = self.spec.init_containers.iter();
        init.filter(|sidecar| sidecar.is_native())
    }
}
