//! All Rust files of a package.

use std::path::{Path, PathBuf};

use super::{DerivedKind, Source, derived_kinds};
use crate::error::Error;

/// The Rust files in `src`, the root of the crate first.
#[derive(Debug)]
pub(crate) struct Tree {
    files: Vec<Source>,
}

impl Tree {
    /// Reads the files of the package in `folder`.
    pub(crate) fn read(folder: &Path) -> Result<Self, Error> {
        let src = folder.join("src");
        let mut paths = Vec::new();
        collect(&src, &mut paths)?;
        paths.sort_by_key(|path| (*path != src.join("lib.rs"), *path != src.join("main.rs")));
        if paths.is_empty() {
            return Err(Error::NoSource { folder: src });
        }
        let files = paths
            .iter()
            .map(|path| Source::read(path))
            .collect::<Result<_, _>>()?;
        Ok(Self { files })
    }

    /// Returns `src/lib.rs`, or `src/main.rs` without a library.
    pub(crate) fn root(&self) -> &Source {
        &self.files[0]
    }

    /// Whether the package has a library, which tests can use.
    pub(crate) fn has_library(&self) -> bool {
        self.root().path.ends_with("lib.rs")
    }

    /// Returns the files, the root first.
    pub(crate) fn files(&self) -> &[Source] {
        &self.files
    }

    /// Returns the files that derive a kind with this name, each with the kind.
    pub(crate) fn deriving(&self, kind: &str) -> Vec<(&Source, DerivedKind)> {
        let all = self.files.iter();
        all.flat_map(|file| {
            derived_kinds(file)
                .into_iter()
                .map(move |found| (file, found))
        })
        .filter(|(_, found)| found.kind == kind)
        .collect()
    }
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) -> Result<(), Error> {
    let failed = |source| Error::File {
        action: "read the sources in",
        path: folder.to_owned(),
        source,
    };
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        entries.push(entry.map_err(failed)?.path());
    }
    entries.sort();
    for path in entries {
        if path.is_dir() {
            collect(&path, paths)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            paths.push(path);
        }
    }
    Ok(())
}
