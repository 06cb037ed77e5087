//! Inputs of the targets.

use std::fs;
use std::io;
use std::path::Path;

/// The contents of the files of a folder, ordered by file name.
pub fn corpus(folder: impl AsRef<Path>) -> io::Result<Vec<Vec<u8>>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        paths.push(entry?.path());
    }
    paths.sort();
    paths.into_iter().map(fs::read).collect()
}
