//! CustomResourceDefinition.

mod kind;
mod validation;

pub use kind::CUSTOM_RESOURCE_DEFINITION;
