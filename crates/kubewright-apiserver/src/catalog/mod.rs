//! Which resources the server offers: the built-in ones from a table, the custom ones from the
//! stored CustomResourceDefinitions.

mod builtin;
mod lookup;
mod served;

pub use builtin::builtin_resources;
pub(crate) use builtin::builtins;
pub(crate) use lookup::Catalog;
pub(crate) use served::{Origin, Served, Subresource};
