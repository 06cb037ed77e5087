//! Lets Kubernetes' own code answer the scripts of server-side apply, and those of its own kinds,
//! and write objects of these in every form.

use std::error::Error;
use std::path::{Path, PathBuf};

use crate::go;
use crate::tables::pack;

/// Rewrites every script below `root` with what the library answers; how many there are.
pub(crate) fn rewrite(root: &Path) -> Result<usize, Box<dyn Error>> {
    let applies = scripts(&root.join("crates/kubewright-wire/tests/apply"))?;
    go::run("vectors", &paths(&applies))?;
    let folder = root.join("crates/kubewright-apiserver/tests/kinds");
    let kinds = scripts(&folder)?;
    let answers = go::run("kinds", &paths(&kinds))?;
    std::fs::write(folder.join("answers.json.gz"), pack(&answers)?)?;
    let objects = root.join("crates/kubewright-wire/tests/protobuf/objects.json.gz");
    std::fs::write(objects, pack(&go::run("objects", &[])?)?)?;
    Ok(applies.len() + kinds.len())
}

fn paths(scripts: &[PathBuf]) -> Vec<&Path> {
    scripts.iter().map(PathBuf::as_path).collect()
}

/// The scripts of a folder, sorted.
fn scripts(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut scripts = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "yaml")
        {
            scripts.push(path);
        }
    }
    scripts.sort();
    Ok(scripts)
}
