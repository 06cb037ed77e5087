//! The containers of a Pod by name, with their status.

use k8s_openapi::api::core::v1::{Container, ContainerStatus};
use kubewright::prelude::*;

/// Returns a container or an init container of a Pod.
pub(super) fn container<'p>(pod: &'p Pod, name: &str) -> Option<&'p Container> {
    let spec = pod.spec.as_ref()?;
    let init = spec.init_containers.iter().flatten();
    spec.containers
        .iter()
        .chain(init)
        .find(|container| container.name == name)
}

/// Returns the status of a container or of an init container.
pub(super) fn container_status<'p>(pod: &'p Pod, name: &str) -> Option<&'p ContainerStatus> {
    let status = pod.status.as_ref()?;
    let main = status.container_statuses.iter().flatten();
    main.chain(status.init_container_statuses.iter().flatten())
        .find(|status| status.name == name)
}
