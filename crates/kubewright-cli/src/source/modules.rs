use syn::spanned::Spanned as _;
use syn::{Attribute, Item};

use super::Source;

/// What became of a module that was to be added.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum AddedModule {
    /// The new text of the file.
    Text(String),
    /// A module of that name is there.
    Present,
}

/// Adds `declaration` (such as `pub mod site;`) of the module `name` behind the last such line, or
/// before the first item.
pub(crate) fn add_module(source: &Source, name: &str, declaration: &str) -> AddedModule {
    let items = &source.syntax.items;
    let modules = || {
        items.iter().filter_map(|item| match item {
            Item::Mod(module) => Some(module),
            _ => None,
        })
    };
    if modules().any(|module| module.ident == name) {
        return AddedModule::Present;
    }
    let line_break = source.line_break();
    let last = modules().rfind(|module| module.content.is_none() && !is_conditional(&module.attrs));
    if let Some(last) = last {
        let end = source.behind_comment(source.range(last.span()).end);
        return AddedModule::Text(source.inserted(end, &format!("{line_break}{declaration}")));
    }
    let Some(first) = items.first() else {
        let gap = match source.text.trim().is_empty() {
            true => "",
            false => line_break,
        };
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
