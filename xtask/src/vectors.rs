//! `cargo xtask vectors`: generates test vectors with the code of Kubernetes: results of server-side
//! apply, results of writes of built-in kinds, and objects in JSON and protobuf.

use std::error::Error;
use std::path::{Path, PathBuf};

use crate::go;
use crate::tables::pack;

/// Rewrites all scripts below `root` with the results of Kubernetes. Returns the number of scripts.
pub(crate) fn rewrite(root: &Path) -> Result<usize, Box<dyn Error>> {
    let applies = scripts(&root.join("crates/kubewright-wire/tests/apply"))?;
    go::run("vectors", &paths(&applies))?;
    let folder = root.join("crates/kubewright-apiserver/tests/kinds");
    let kinds = scripts(&folder)?;
    let results = go::run("kinds", &paths(&kinds))?;
    std::fs::write(folder.join("results.json.gz"), pack(&results)?)?;
    let objects = root.join("crates/kubewright-wire/tests/protobuf/objects.json.gz");
    std::fs::write(objects, pack(&go::run("objects", &[])?)?)?;
    Ok(applies.len() + kinds.len())
}

fn paths(scripts: &[PathBuf]) -> Vec<&Path> {
    scripts.iter().map(PathBuf::as_path).collect()
}

/// Returns the scripts of a folder, sorted.
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
