use proc_macro2::{TokenStream, TokenTree};
use syn::{Attribute, Item, Meta};

use super::Source;

/// A kind that a file derives with `#[kube(..)]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DerivedKind {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) kind: String,
}

/// The kinds that the file derives, those in its inline modules too.
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

/// The settings may be spread over several attributes.
fn derived(attributes: &[Attribute]) -> Option<DerivedKind> {
    let mut found = DerivedKind::default();
    for attribute in attributes {
        if let Meta::List(list) = &attribute.meta
            && list.path.is_ident("kube")
        {
            read_settings(list.tokens.clone(), &mut found);
        }
    }
    (!found.kind.is_empty()).then_some(found)
}

/// Reads `name = "value"` at the outermost level; what else there is does not matter here.
fn read_settings(tokens: TokenStream, found: &mut DerivedKind) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for three in tokens.windows(3) {
        let [
            TokenTree::Ident(name),
            TokenTree::Punct(equals),
            TokenTree::Literal(value),
        ] = three
        else {
            continue;
        };
        let Ok(value) = syn::parse_str::<syn::LitStr>(&value.to_string()) else {
            continue;
        };
        match (equals.as_char(), name.to_string().as_str()) {
            ('=', "group") => found.group = value.value(),
            ('=', "version") => found.version = value.value(),
            ('=', "kind") => found.kind = value.value(),
            _ => {}
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
        };
        assert_eq!(derived_kinds(&source), [site]);
    }
}
