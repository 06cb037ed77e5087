//! Module paths of files, and which modules other modules may use.

use std::path::{Path, PathBuf};

use syn::{Item, Visibility};

use crate::source::{Source, Tree};

/// Returns the module path of a file below `src`.
pub(super) fn module_path(folder: &Path, file: &Source) -> String {
    let relative = file
        .path
        .strip_prefix(folder.join("src"))
        .unwrap_or(&file.path)
        .with_extension("");
    let parts = relative
        .iter()
        .map(|part| part.to_string_lossy().into_owned())
        .filter(|name| !["lib", "main", "mod"].contains(&name.as_str()));
    std::iter::once("crate".to_owned())
        .chain(parts)
        .collect::<Vec<_>>()
        .join("::")
}

/// Whether other crates can use the module: the root of the crate, or a public module in it.
pub(super) fn is_reachable(tree: &Tree, module: &str) -> bool {
    let Some(name) = module.strip_prefix("crate::") else {
        return true;
    };
    tree.root().syntax.items.iter().any(|item| {
        matches!(item, Item::Mod(module)
if module.ident == name && matches!(module.vis, Visibility::Public(_)))
    })
}

/// A module that is private to its parent.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PrivateModule {
    pub(super) name: String,
    /// The file and the line that declare it.
    pub(super) file: PathBuf,
    pub(super) line: usize,
}

/// Returns the first private module on the path that other modules of the crate cannot use. A
/// private module of the crate's root is visible in the whole crate.
pub(super) fn private_module(tree: &Tree, folder: &Path, module: &str) -> Option<PrivateModule> {
    let (parent, name) = module.rsplit_once("::")?;
    if parent == "crate" {
        return None;
    }
    let file = tree
        .files()
        .iter()
        .find(|file| module_path(folder, file) == parent);
    let private = file.and_then(|file| {
        let declared = file.syntax.items.iter().find_map(|item| match item {
            Item::Mod(module) if module.ident == name => Some(module),
            _ => None,
        })?;
        matches!(declared.vis, Visibility::Inherited).then(|| PrivateModule {
            name: name.to_owned(),
            file: file.path.clone(),
            line: declared.mod_token.span.start().line,
        })
    });
    private.or_else(|| private_module(tree, folder, parent))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::{module_path, private_module};
    use crate::source::{Source, Tree};

    #[test]
    fn private_module_is_found_unless_the_root_declares_it() {
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
    fn module_path_follows_the_path_of_the_file() {
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
