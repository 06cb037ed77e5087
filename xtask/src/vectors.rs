//! Lets Kubernetes' own library answer the scripts of server-side apply.

use std::error::Error;
use std::path::{Path, PathBuf};

use crate::go;

/// Rewrites every script below `root` with what the library answers; how many there are.
pub(crate) fn rewrite(root: &Path) -> Result<usize, Box<dyn Error>> {
    let folder = root.join("crates/kubewright-wire/tests/apply");
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
    let paths: Vec<&Path> = scripts.iter().map(PathBuf::as_path).collect();
    go::run("vectors", &paths)?;
    Ok(scripts.len())
}
