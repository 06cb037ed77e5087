//! The resources that the server offers: the built-in ones from a table, the custom ones from the
//! stored CustomResourceDefinitions.

mod builtin;
mod catalog;
mod conform;
mod conversion;
mod custom_version;
mod definition;
mod served;

pub use builtin::builtin_resources;
pub(crate) use builtin::builtins;
pub(crate) use catalog::Catalog;
pub(crate) use conform::{cannot_handle, conform_builtin, undecodable};
pub(crate) use conversion::Conversion;
pub(crate) use custom_version::CustomVersion;
pub(crate) use definition::terminating_definition;
pub(crate) use served::{Origin, ServedResource, Subresource};
