//! What Kubernetes fills into objects of its own kinds: a table found by probing its scheme, and
//! a function for each default that depends on other fields.

mod container;
mod fill;
mod pod;
mod rules;
mod service;
mod small;
mod table;
mod workload;

pub(crate) use fill::{fill_in, image_tag_is_latest};
pub(crate) use workload::first_template_generation;
