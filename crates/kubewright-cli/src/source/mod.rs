//! The user's Rust: read by a parser, changed as text, so that formatting and comments stay.

mod chain;
mod file;
mod imports;
mod items;
mod kinds;
mod modules;
mod tidy;
mod tree;
mod twin;

pub(crate) use chain::{Placed, append_call};
pub(crate) use file::Source;
pub(crate) use items::{has_function, with_items};
pub(crate) use kinds::{DerivedKind, derived_kinds};
pub(crate) use modules::{AddedModule, add_module};
pub(crate) use tidy::{formatted, formatted_like};
pub(crate) use tree::Tree;
pub(crate) use twin::{Twin, twin};
