//! The kinds of the group flowcontrol.apiserver.k8s.io.

mod flow_schema;
mod priority_level_configuration;

pub use flow_schema::FLOW_SCHEMA;
pub use priority_level_configuration::PRIORITY_LEVEL_CONFIGURATION;
