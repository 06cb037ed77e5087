//! `PodSpec` and `PodTemplateSpec`, which Pods and workloads contain.

mod defaults;
mod image;
mod owner;
mod resources;
mod validation;
mod warnings;

pub(crate) use defaults::{apply_defaults, sync_service_account};
pub(crate) use image::validate_image_whitespace;
pub(crate) use owner::SpecOwner;
pub use resources::{pod_resources, quality_of_service};
pub(crate) use validation::{
    PodContext, validate_annotations, validate_pod_spec, validate_port, validate_template,
    validate_tolerations,
};
pub(crate) use warnings::{
    each_container, warn_app_armor, warn_host_name, warn_pod_spec, warn_template,
};
