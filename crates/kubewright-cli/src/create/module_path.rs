use std::path::{Path, PathBuf};

use syn::{Item, Visibility};

use crate::source::{Source, Tree};

/// The module of a file below `src`.
pub(super) fn module_path(folder: &Path, file: &Source) -> String {
    let inner = file
        .path
        .strip_prefix(folder.join("src"))
        .unwrap_or(&file.path);
    let inner = inner.with_extension("");
    let names = inner.iter().map(|part| part.to_string_lossy().into_owned());
    let named = names.filter(|name| !["lib", "main", "mod"].contains(&name.as_str()));
    std::iter::once("crate".to_owned())
        .chain(named)
        .collect::<Vec<_>>()
        .join("::")
}

/// Whether other crates reach the module: the crate's root itself, or a public module in it.
pub(super) fn is_reachable(tree: &Tree, module: &str) -> bool {
    let Some(name) = module.strip_prefix("crate::") else {
        return true;
    };
    tree.root().syntax.items.iter().any(|item| {
        matches!(item, Item::Mod(one)
            if one.ident == name && matches!(one.vis, Visibility::Public(_)))
    })
}

/// A module that only the one around it sees.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PrivateModule {
    pub(super) name: String,
    /// The file that declares it, and where.
    pub(super) file: PathBuf,
    pub(super) line: usize,
}

/// The module on the way to this one that the crate's other modules do not see. Those of the
/// crate's root are seen by all.
pub(super) fn private_module(tree: &Tree, folder: &Path, module: &str) -> Option<PrivateModule> {
    let (around, name) = module.rsplit_once("::")?;
    if around == "crate" {
        return None;
    }
    let file = tree
        .files()
        .iter()
        .find(|file| module_path(folder, file) == around);
    let private = file.and_then(|file| {
        let declared = file.syntax.items.iter().find_map(|item| match item {
            Item::Mod(one) if one.ident == name => Some(one),
            _ => None,
        })?;
        matches!(declared.vis, Visibility::Inherited).then(|| PrivateModule {
            name: name.to_owned(),
            file: file.path.clone(),
            line: declared.mod_token.span.start().line,
        })
    });
    private.or_else(|| private_module(tree, folder, around))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::{module_path, private_module};
    use crate::source::{Source, Tree};

    #[test]
    fn a_private_module_is_seen_below_the_root_and_not_below_others() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        fs::create_dir_all(folder.join("src/api")).unwrap();
        for (file, text) in [
            ("src/lib.rs", "mod api;\n"),
            ("src/api/mod.rs", "pub mod v1;\n\nmod v2;\n"),
            ("src/api/v1.rs", ""),
            ("src/api/v2.rs", ""),
        ] {
            fs::write(folder.join(file), text).unwrap();
        }
        let tree = Tree::read(folder).unwrap();
        assert_eq!(private_module(&tree, folder, "crate::api"), None);
        assert_eq!(private_module(&tree, folder, "crate::api::v1"), None);
        let private = private_module(&tree, folder, "crate::api::v2").unwrap();
        assert_eq!((private.name.as_str(), private.line), ("v2", 3));
        assert!(private.file.ends_with("src/api/mod.rs"));
    }

    #[test]
    fn files_are_the_modules_that_rust_makes_of_them() {
        let path = |file: &str| {
            let source = Source::parse(&Path::new("p/src").join(file), String::new()).unwrap();
            module_path(Path::new("p"), &source)
        };
        let files = ["lib.rs", "site.rs", "api/mod.rs", "api/v1.rs"];
        assert_eq!(
            files.map(path),
            ["crate", "crate::site", "crate::api", "crate::api::v1"]
        );
    }
}
