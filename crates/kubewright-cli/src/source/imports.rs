use std::collections::BTreeSet;

use syn::{Item, ItemUse, UseTree};

/// The `use` lines that bring these names into a file, for a file in another module: one line a
/// name, and everything that is imported by `*`.
pub(super) fn imported(items: &[Item], module: &str, names: &BTreeSet<String>) -> Vec<String> {
    let inner: BTreeSet<String> = items.iter().filter_map(inner_name).collect();
    let mut lines = Vec::new();
    for item in items {
        if let Item::Use(item) = item {
            for leaf in leaves(item, module, &inner) {
                if leaf.name.is_none_or(|name| names.contains(&name)) {
                    lines.push(format!("use {};", leaf.path));
                }
            }
        }
    }
    lines
}

/// What else of the file a path in it may begin with.
fn inner_name(item: &Item) -> Option<String> {
    match item {
        Item::Mod(item) => Some(item.ident.to_string()),
        Item::Enum(item) => Some(item.ident.to_string()),
        _ => None,
    }
}

/// One thing that is imported.
struct Leaf {
    path: String,
    /// The name it has in the file; none for `*`.
    name: Option<String>,
}

fn leaves(item: &ItemUse, module: &str, inner: &BTreeSet<String>) -> Vec<Leaf> {
    let mut found = Vec::new();
    let root = item.leading_colon.is_some().then(String::new);
    collect(
        &item.tree,
        &root.into_iter().collect::<Vec<_>>(),
        &mut found,
    );
    for leaf in &mut found {
        leaf.path = absolute(&leaf.path, module, inner);
    }
    found
}

fn collect(tree: &UseTree, before: &[String], found: &mut Vec<Leaf>) {
    let path = |last: String| [before, &[last]].concat().join("::");
    match tree {
        UseTree::Path(next) => {
            let before = [before, &[next.ident.to_string()]].concat();
            collect(&next.tree, &before, found);
        }
        // `use a::b::{self}` imports `b`.
        UseTree::Name(last) if last.ident == "self" => found.push(Leaf {
            path: before.join("::"),
            name: before.last().cloned(),
        }),
        UseTree::Name(last) => found.push(Leaf {
            path: path(last.ident.to_string()),
            name: Some(last.ident.to_string()),
        }),
        UseTree::Rename(last) => found.push(Leaf {
            path: path(format!("{} as {}", last.ident, last.rename)),
            name: Some(last.rename.to_string()),
        }),
        UseTree::Glob(_) => found.push(Leaf {
            path: path("*".to_owned()),
            name: None,
        }),
        UseTree::Group(group) => {
            for tree in &group.items {
                collect(tree, before, found);
            }
        }
    }
}

/// What begins with `self`, `super` or a module of the file's own means something else in another
/// module.
fn absolute(path: &str, module: &str, inner: &BTreeSet<String>) -> String {
    let first = path.split("::").next().unwrap_or_default();
    if inner.contains(first) {
        return format!("{module}::{path}");
    }
    let mut module = module;
    let mut rest = path.strip_prefix("self::").unwrap_or(path);
    while let Some(above) = rest.strip_prefix("super::") {
        module = module
            .rsplit_once("::")
            .map_or("crate", |(parent, _)| parent);
        rest = above;
    }
    match rest == path {
        true => path.to_owned(),
        false => format!("{module}::{rest}"),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::imported;

    #[test]
    fn names_are_imported_one_by_one_and_from_the_crates_root() {
        let text = "use a::{b::{self, c}, d as e, f::*};\nuse super::super::g;\nuse self::h::i;\nuse ::j::k;\nmod l;\nuse l::m;";
        let file = syn::parse_file(text).unwrap();
        let names = ["b", "e", "g", "i", "k", "m"].map(str::to_owned);
        let names: BTreeSet<String> = names.into_iter().collect();
        assert_eq!(
            imported(&file.items, "crate::x::y::z", &names),
            [
                "use a::b;",
                "use a::d as e;",
                "use a::f::*;",
                "use crate::x::g;",
                "use crate::x::y::z::h::i;",
                "use ::j::k;",
                "use crate::x::y::z::l::m;",
            ]
        );
    }
}
