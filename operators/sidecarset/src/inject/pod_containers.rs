//! The containers of a Pod, and which of them a set has injected.

use k8s_openapi::api::core::v1::Container;
use kubewright::prelude::*;

/// The environment variable that marks an injected container.
pub const INJECTED: &str = "IS_INJECTED";

/// The containers of a Pod.
#[derive(Clone, Copy, Debug)]
pub(super) struct PodContainers<'p> {
    pub(super) containers: &'p [Container],
    pub(super) init_containers: &'p [Container],
}

impl<'p> PodContainers<'p> {
    pub(super) fn of(pod: &'p Pod) -> Self {
        let spec = pod.spec.as_ref();
        Self {
            containers: spec.map_or(&[], |spec| &spec.containers),
            init_containers: spec
                .and_then(|spec| spec.init_containers.as_deref())
                .unwrap_or_default(),
        }
    }
}

/// Whether a set has injected the container.
pub(super) fn is_injected(container: &Container) -> bool {
    let mut env = container.env.iter().flatten();
    env.any(|variable| variable.name == INJECTED && variable.value.as_deref() == Some("true"))
}
