//! Copies a folder of sources.

use std::fs;
use std::io;
use std::path::Path;

/// Folders that a build writes or does not read.
const SKIPPED: [&str; 2] = ["target", ".git"];

/// Copies a folder of sources, so that edits do not change the original.
pub(super) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name();
        if SKIPPED.iter().any(|skipped| name == *skipped) {
            continue;
        }
        let (source, copied) = (entry.path(), to.join(&name));
        if entry.file_type()?.is_dir() {
            copy(&source, &copied)?;
        } else {
            fs::copy(source, copied)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::copy;

    #[test]
    fn sources_are_copied_without_build_results() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("a"), folder.path().join("b"));
        fs::create_dir_all(from.join("src/deep")).unwrap();
        fs::create_dir_all(from.join("target/debug")).unwrap();
        fs::write(from.join("src/deep/lib.rs"), "text").unwrap();
        fs::write(from.join("target/debug/program"), "bytes").unwrap();
        copy(&from, &to).unwrap();
        let copied = fs::read_to_string(to.join("src/deep/lib.rs")).unwrap();
        assert_eq!(copied, "text");
        assert!(!to.join("target").exists());
    }
}
