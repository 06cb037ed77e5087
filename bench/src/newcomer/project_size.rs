//! The size of a generated project.

use std::fs;
use std::io;
use std::path::Path;

/// The number of files and lines of a project.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ProjectSize {
    pub(super) files: u32,
    pub(super) lines: u32,
}

/// Files that cargo generates.
const GENERATED: [&str; 2] = ["target", "Cargo.lock"];

/// Counts the files of a project and their lines.
pub(super) fn project_size(folder: &Path) -> io::Result<ProjectSize> {
    let mut size = ProjectSize::default();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if GENERATED.iter().any(|name| entry.file_name() == *name) {
            continue;
        }
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            let inner = project_size(&path)?;
            size.files += inner.files;
            size.lines += inner.lines;
            continue;
        }
        let text = fs::read(&path)?;
        let lines = text.iter().filter(|byte| **byte == b'\n').count();
        size.files += 1;
        size.lines += u32::try_from(lines).unwrap_or(u32::MAX);
    }
    Ok(size)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{ProjectSize, project_size};

    #[test]
    fn files_generated_by_cargo_are_not_counted() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("src")).unwrap();
        fs::create_dir_all(folder.path().join("target")).unwrap();
        for (name, text) in [
            ("src/lib.rs", "a\nb\n"),
            (".gitignore", "target\n"),
            ("Cargo.lock", "many\nlines\n"),
            ("target/made", "x\n"),
        ] {
            fs::write(folder.path().join(name), text).unwrap();
        }
        let size = project_size(folder.path()).unwrap();
        assert_eq!(size, ProjectSize { files: 2, lines: 3 });
    }
}
