//! The user's Rust sources: parsed to find places, changed as text to keep formatting and comments.

mod call_chain;
mod file;
mod format;
mod imports;
mod items;
mod kinds;
mod modules;
mod names;
mod tree;
mod type_copy;

pub(crate) use call_chain::{AddedCall, append_call};
pub(crate) use file::Source;
pub(crate) use format::{formatted, formatted_like};
pub(crate) use items::{has_function, with_items};
pub(crate) use kinds::{DerivedKind, derived_kinds};
pub(crate) use modules::{AddedModule, add_module};
pub(crate) use tree::Tree;
pub(crate) use type_copy::{TypeCopy, copy_type};
