use std::fs;
use std::io;
use std::path::Path;

/// How much there is to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counted {
    pub(super) files: u32,
    pub(super) lines: u32,
}

/// What nobody writes or reads: what cargo makes.
const LEFT_OUT: [&str; 2] = ["target", "Cargo.lock"];

/// Counts the files of a project and their lines.
pub(super) fn count(folder: &Path) -> io::Result<Counted> {
    let mut counted = Counted::default();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if LEFT_OUT.iter().any(|left| entry.file_name() == *left) {
            continue;
        }
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            let inner = count(&path)?;
            counted.files += inner.files;
            counted.lines += inner.lines;
            continue;
        }
        let text = fs::read(&path)?;
        let lines = text.iter().filter(|byte| **byte == b'\n').count();
        counted.files += 1;
        counted.lines += u32::try_from(lines).unwrap_or(u32::MAX);
    }
    Ok(counted)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Counted, count};

    #[test]
    fn files_and_lines_are_counted_without_what_cargo_makes() {
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
        let counted = count(folder.path()).unwrap();
        assert_eq!(counted, Counted { files: 2, lines: 3 });
    }
}
