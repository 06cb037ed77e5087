//! Validation of a PodSpec (`ValidatePodSpec` of pkg/apis/core/validation).

mod affinity;
mod annotations;
mod container;
mod context;
mod env;
mod mounts;
mod port;
mod probe;
mod resources;
mod security;
mod spec;
mod template;
mod tolerations;
mod volume;

pub(crate) use annotations::validate_annotations;
pub(crate) use context::PodContext;
pub(crate) use port::validate_port;
pub(crate) use spec::validate_pod_spec;
pub(crate) use template::validate_template;
pub(crate) use tolerations::validate_tolerations;
