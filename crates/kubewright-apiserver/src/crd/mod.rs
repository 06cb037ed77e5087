//! CustomResourceDefinitions: which of them are accepted, what they make the server serve, what
//! their schemas ask of objects, and how they go.
//!
//! Not there yet, and refused with 501 by name: what `cel` lacks.
//! Status and metadata of a definition are complete when
//! the create returns: the steps that a real server takes one after the other are taken at once.

mod accept;
mod bounds;
mod check;
mod compiled;
mod convert;
mod declared;
mod definition;
mod expression_type;
mod field_path;
mod fill;
mod formats;
mod list_types;
mod names;
mod rule;
mod rules;
mod scale_paths;
mod schema;
mod structural;
mod terminate;
mod validate;

pub(crate) use accept::{accept, definition_causes, fill_in};
pub(crate) use convert::Conversion;
pub(crate) use definition::{CustomVersion, DEFINITIONS, Definition, terminating_definition};
pub(crate) use schema::Checked;
pub(crate) use terminate::{clean_up, instance_gone, terminating};
