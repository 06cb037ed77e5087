//! What the kinds that create Pods from a template have in common.

mod columns;
mod defaults;
mod status;
mod validation;
mod warnings;

pub(crate) use columns::{CONTAINERS, IMAGES, READY_OF_DESIRED, SELECTOR};
pub(crate) use defaults::{default_rolling_update, set_labels, template_labels};
pub(crate) use status::{validate_at_most_replicas, validate_ready_and_available};
pub(crate) use validation::validate_selector_and_template;
pub(crate) use warnings::{generation_changed, warn_pod_names};
