use std::fs;
use std::io;
use std::path::Path;

/// What a build makes, and what it does not read.
const LEFT_OUT: [&str; 2] = ["target", ".git"];

/// Copies a folder of sources, so that editing them touches nobody else's.
pub(super) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name();
        if LEFT_OUT.iter().any(|left| name == *left) {
            continue;
        }
        let (source, copied) = (entry.path(), to.join(&name));
        match entry.file_type()?.is_dir() {
            true => copy(&source, &copied)?,
            false => {
                fs::copy(source, copied)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::copy;

    #[test]
    fn sources_are_copied_and_what_was_built_is_not() {
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
