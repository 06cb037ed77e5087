//! Adds a module declaration to a file.

use syn::spanned::Spanned as _;
use syn::{Attribute, Item};

use super::Source;

/// The result of adding a module.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum AddedModule {
    /// The new text of the file.
    Text(String),
    /// The file has a module with this name.
    Exists,
}

/// Adds the declaration of a module, such as `pub mod site;`, after the last declaration, or before
/// the first item.
pub(crate) fn add_module(source: &Source, name: &str, declaration: &str) -> AddedModule {
    let items = &source.syntax.items;
    let modules = || {
        items.iter().filter_map(|item| match item {
            Item::Mod(module) => Some(module),
            _ => None,
        })
    };
    if modules().any(|module| module.ident == name) {
        return AddedModule::Exists;
    }
    let line_break = source.line_break();
    let last = modules().rfind(|module| module.content.is_none() && !is_conditional(&module.attrs));
    if let Some(last) = last {
        let end = source.after_comment(source.range(last.span()).end);
        return AddedModule::Text(source.inserted(end, &format!("{line_break}{declaration}")));
    }
    let Some(first) = items.first() else {
        let is_empty = source.text.trim().is_empty();
        let gap = if is_empty { "" } else { line_break };
        let addition = format!("{gap}{declaration}{line_break}");
        return AddedModule::Text(source.inserted(source.text.len(), &addition));
    };
    let start = source.range(first.span()).start;
    let addition = format!("{declaration}{line_break}{line_break}");
    AddedModule::Text(source.inserted(start, &addition))
}

fn is_conditional(attributes: &[Attribute]) -> bool {
    attributes
        .iter()
        .any(|attribute| attribute.path().is_ident("cfg"))
}
