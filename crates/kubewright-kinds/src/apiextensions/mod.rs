//! The kinds of the group apiextensions.k8s.io.

mod custom_resource_definition;

pub use custom_resource_definition::CUSTOM_RESOURCE_DEFINITION;
