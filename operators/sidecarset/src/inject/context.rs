//! What an injection depends on besides the Pod.

use k8s_openapi::api::apps::v1::ControllerRevision;
use kubewright::prelude::*;

use crate::SidecarSet;
use crate::pod_namespace::PodNamespace;

/// What an injection depends on besides the Pod.
#[derive(Clone, Debug)]
pub struct InjectionContext<'a> {
    /// The namespace of the Pod.
    pub namespace: PodNamespace<'a>,
    /// All sets.
    pub sets: Vec<Arc<SidecarSet>>,
    /// The revisions of all sets.
    pub revisions: Vec<Arc<ControllerRevision>>,
}
