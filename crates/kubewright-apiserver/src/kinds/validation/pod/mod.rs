//! The rules of Pods and of templates of Pods.

mod affinity;
mod around;
mod container;
mod create;
mod env;
mod mounts;
mod probe;
mod resources;
mod security;
mod spec;
mod status;
mod tolerations;
mod update;
mod volume;

use around::Around;
pub(super) use create::{pod, pod_template, template};
pub(super) use probe::port;
pub(super) use resources::{container_name, is_huge, resource_name};
pub(super) use status::pod_status;
