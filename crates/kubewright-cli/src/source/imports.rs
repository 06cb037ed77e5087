//! The imports of a file, rewritten for another module.

use std::collections::BTreeSet;

use syn::{Item, ItemUse, UseTree};

/// Returns the `use` lines that import the names into the file, with paths that are valid in another
/// module: one line for each name, and all glob imports.
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

/// Returns the name of an item that paths in the file may start with.
fn inner_name(item: &Item) -> Option<String> {
    match item {
        Item::Mod(item) => Some(item.ident.to_string()),
        Item::Enum(item) => Some(item.ident.to_string()),
        _ => None,
    }
}

/// One import.
struct Leaf {
    path: String,
    /// The name in the file; none for `*`.
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

/// Returns the path as an absolute one if it starts with `self`, `super` or a module of the file,
/// which refer to something else in another module.
fn absolute(path: &str, module: &str, inner: &BTreeSet<String>) -> String {
    let first = path.split("::").next().unwrap_or_default();
    if inner.contains(first) {
        return format!("{module}::{path}");
    }
    let mut base = module;
    let mut rest = path.strip_prefix("self::").unwrap_or(path);
    while let Some(inner) = rest.strip_prefix("super::") {
        base = base.rsplit_once("::").map_or("crate", |(parent, _)| parent);
        rest = inner;
    }
    if rest == path {
        path.to_owned()
    } else {
        format!("{base}::{rest}")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::imported;

    #[test]
    fn imports_are_absolute_and_one_for_each_name() {
        let text = "use a::{b::{self, c}, d as e, f::*};\nuse super::super::g;\nuse self::h::i;\nuse ::j::k;\nmod l;\nuse l::m;";
        let file = syn::parse_file(text).unwrap();
        let names = BTreeSet::from(["b", "e", "g", "i", "k", "m"].map(str::to_owned));
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
