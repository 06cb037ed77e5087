//! Custom resources: what the schemas of CustomResourceDefinitions require of objects.

mod bounds;
mod compiled;
mod declared;
mod defaults;
mod expression_type;
mod formats;
mod list_types;
mod rule;
mod rules;
mod scale_paths;
mod schema;
mod schema_path;
mod strategy;
mod structural;
mod validate;

pub use compiled::schemas;
pub(crate) use declared::{MAX_REQUEST_SIZE, declared, limit};
pub(crate) use expression_type::{expression_type, is_embedded};
pub(crate) use rule::Rule;
pub use scale_paths::ScalePaths;
pub use schema::{Checked, CustomSchema};
pub(crate) use schema_path::{Brackets, resolve_path};
pub use strategy::CUSTOM_RESOURCE;
pub(crate) use structural::Structural;
pub(crate) use validate::validate;
