//! Kinds that a file derives with `#[kube(..)]`.

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::{Attribute, Item, Meta};

use super::Source;

/// A kind that a file derives with `#[kube(..)]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DerivedKind {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) kind: String,
    /// Whether its objects have a namespace.
    pub(crate) namespaced: bool,
}

/// Returns the kinds that the file derives, including those in inline modules.
pub(crate) fn derived_kinds(source: &Source) -> Vec<DerivedKind> {
    let mut kinds = Vec::new();
    collect(&source.syntax.items, &mut kinds);
    kinds
}

fn collect(items: &[Item], kinds: &mut Vec<DerivedKind>) {
    for item in items {
        match item {
            Item::Struct(item) => kinds.extend(derived(&item.attrs)),
            Item::Enum(item) => kinds.extend(derived(&item.attrs)),
            Item::Mod(module) => {
                if let Some((_, items)) = &module.content {
                    collect(items, kinds);
                }
            }
            _ => {}
        }
    }
}

/// Returns the kind that the attributes of a type define.
pub(super) fn derived(attributes: &[Attribute]) -> Option<DerivedKind> {
    let mut found = DerivedKind {
        namespaced: is_namespaced(attributes),
        ..DerivedKind::default()
    };
    for setting in settings(attributes) {
        match setting.name.as_str() {
            "group" => found.group = setting.value,
            "version" => found.version = setting.value,
            "kind" => found.kind = setting.value,
            _ => {}
        }
    }
    (!found.kind.is_empty()).then_some(found)
}

/// `name = "value"` in a `#[kube(..)]`.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    pub(super) name: String,
    pub(super) value: String,
    /// The span of the value with its quotes.
    pub(super) span: Span,
}

/// Returns the top-level settings of all `kube` attributes.
pub(super) fn settings(attributes: &[Attribute]) -> Vec<Setting> {
    let mut found = Vec::new();
    for attribute in attributes {
        if let Meta::List(list) = &attribute.meta
            && list.path.is_ident("kube")
        {
            read_settings(list.tokens.clone(), &mut found);
        }
    }
    found
}

/// Whether one of the attributes has the word `namespaced`.
fn is_namespaced(attributes: &[Attribute]) -> bool {
    let of_kube = attributes
        .iter()
        .filter_map(|attribute| match &attribute.meta {
            Meta::List(list) if list.path.is_ident("kube") => Some(list.tokens.clone()),
            _ => None,
        });
    let mut words = of_kube.flatten();
    words.any(|token| matches!(token, TokenTree::Ident(word) if word == "namespaced"))
}

fn read_settings(tokens: TokenStream, found: &mut Vec<Setting>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for triple in tokens.windows(3) {
        let [
            TokenTree::Ident(name),
            TokenTree::Punct(equals),
            TokenTree::Literal(value),
        ] = triple
        else {
            continue;
        };
        let Ok(text) = syn::parse_str::<syn::LitStr>(&value.to_string()) else {
            continue;
        };
        if equals.as_char() == '=' {
            found.push(Setting {
                name: name.to_string(),
                value: text.value(),
                span: value.span(),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{DerivedKind, derived_kinds};
    use crate::source::Source;

    #[test]
    fn kinds_are_found_in_modules_and_over_several_attributes() {
        let text = r#"
            mod inner {
                #[derive(CustomResource)]
                #[kube(version = "v1", kind = "Site", printcolumn(name = "X", json_path = ".kind"))]
                #[kube(group = "ex.io", namespaced)]
                pub struct SiteSpec {}
            }
            #[kube(group = "nothing")]
            struct Other;
        "#;
        let source = Source::parse(Path::new("lib.rs"), text.to_owned()).unwrap();
        let site = DerivedKind {
            group: "ex.io".to_owned(),
            version: "v1".to_owned(),
            kind: "Site".to_owned(),
            namespaced: true,
        };
        assert_eq!(derived_kinds(&source), [site]);
    }
}
