//! The names that a struct refers to: in the types of its fields and in its attributes.

use std::collections::BTreeSet;

use proc_macro2::{TokenStream, TokenTree};
use syn::spanned::Spanned as _;
use syn::{Attribute, Field, ItemStruct, Meta};

use super::Source;
use super::kinds::settings;

/// Returns the names in the types of the struct's fields, in its derives, and those of types,
/// constants and functions in attributes.
pub(super) fn names_in_struct(source: &Source, item: &ItemStruct) -> BTreeSet<String> {
    let mut names = names_in_attributes(item);
    for field in &item.fields {
        names.extend(names_in_field(source, field));
    }
    names
}

/// Returns the names in the attributes of the struct itself.
pub(super) fn names_in_attributes(item: &ItemStruct) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for attribute in &item.attrs {
        names_in_attribute(attribute, &mut names);
    }
    for setting in settings(&item.attrs) {
        if setting.name == "status" || setting.name == "derive" {
            names_in_type(setting.value.parse().unwrap_or_default(), &mut names);
        }
    }
    names
}

/// Returns the names in the type and in the attributes of a field.
pub(super) fn names_in_field(source: &Source, field: &Field) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for attribute in &field.attrs {
        names_in_attribute(attribute, &mut names);
    }
    let range = source.range(field.ty.span());
    let text = source.text.get(range).unwrap_or_default();
    names_in_type(text.parse().unwrap_or_default(), &mut names);
    names
}

fn names_in_type(tokens: TokenStream, names: &mut BTreeSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(name) => {
                names.insert(name.to_string());
            }
            TokenTree::Group(group) => names_in_type(group.stream(), names),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

fn names_in_attribute(attribute: &Attribute, names: &mut BTreeSet<String>) {
    let Meta::List(list) = &attribute.meta else {
        return;
    };
    // Strings in `kube` are names in Kubernetes; strings in other attributes are paths in Rust.
    if list.path.is_ident("kube") {
        names_in_rules(list.tokens.clone(), names);
    } else {
        names_in_settings(list.tokens.clone(), names);
    }
}

/// Adds the names in the code of `validation = Rule::new(..)`.
fn names_in_rules(tokens: TokenStream, names: &mut BTreeSet<String>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let is_comma =
        |token: &TokenTree| matches!(token, TokenTree::Punct(mark) if mark.as_char() == ',');
    for setting in tokens.split(is_comma) {
        if let [TokenTree::Ident(name), TokenTree::Punct(_), code @ ..] = setting
            && (name == "validation" || name == "rule")
        {
            names_in_code(code.iter().cloned().collect(), names);
        }
    }
}

/// Adds names that stand alone or start a path; methods and later segments of paths are skipped.
fn names_in_code(code: TokenStream, names: &mut BTreeSet<String>) {
    let mut is_within_path = false;
    for token in code {
        match &token {
            TokenTree::Ident(name) if !is_within_path => {
                names.insert(name.to_string());
            }
            TokenTree::Group(group) => names_in_code(group.stream(), names),
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
        is_within_path =
            matches!(&token, TokenTree::Punct(mark) if matches!(mark.as_char(), '.' | ':'));
    }
}

fn names_in_settings(tokens: TokenStream, names: &mut BTreeSet<String>) {
    for token in tokens {
        match token {
            // Other words in lower case are keywords of the attribute.
            TokenTree::Ident(name) => {
                let name = name.to_string();
                let is_relative = name == "self" || name == "super";
                if is_relative || name.starts_with(|first: char| first.is_ascii_uppercase()) {
                    names.insert(name);
                }
            }
            TokenTree::Literal(value) => names_in_string(&value.to_string(), names),
            TokenTree::Group(group) => names_in_settings(group.stream(), names),
            TokenTree::Punct(_) => {}
        }
    }
}

/// Adds the names of a path or a type in a string: the first one of `"part::default_size"`, and all
/// of `"BTreeMap<String, Part>"`.
fn names_in_string(literal: &str, names: &mut BTreeSet<String>) {
    let Ok(literal) = syn::parse_str::<syn::LitStr>(literal) else {
        return;
    };
    let text = literal.value();
    // This may be a rule in CEL.
    if text == "self" {
        return;
    }
    let parsed = syn::parse_str::<syn::Type>(&text);
    if let Ok(syn::Type::Path(_) | syn::Type::Tuple(_) | syn::Type::Array(_)) = parsed {
        names_in_code(text.parse().unwrap_or_default(), names);
    }
}
