//! The user's Rust: read by a parser, changed as text, so that formatting and comments stay.

mod call_chain;
mod file;
mod format;
mod imports;
mod items;
mod kinds;
mod modules;
mod tree;
mod type_copy;

pub(crate) use call_chain::{Placed, append_call};
pub(crate) use file::Source;
pub(crate) use format::{formatted, formatted_like};
pub(crate) use items::{has_function, with_items};
pub(crate) use kinds::{DerivedKind, derived_kinds};
pub(crate) use modules::{AddedModule, add_module};
pub(crate) use tree::Tree;
pub(crate) use type_copy::{Twin, twin};
