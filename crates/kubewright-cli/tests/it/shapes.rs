//! Files of `tests/shapes`: a `lib.rs` as somebody wrote it, and beside it (`.expected`) what
//! `create api` makes of it, or says.

use std::fs;
use std::path::Path;

use super::kubewright;

/// `UPDATE_EXPECT=1` writes the expected files anew.
#[test]
fn each_shape_of_a_library_is_registered_in_or_told_what_to_add() {
    let shapes = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/shapes");
    let mut files: Vec<_> = fs::read_dir(&shapes)
        .expect("the folder is there")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect();
    files.sort();
    assert!(files.len() >= 8, "{files:?}");
    for file in files {
        let made = made_of(&file);
        let expected = file.with_extension("expected");
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            fs::write(&expected, &made).expect("the file can be written");
        }
        let expected = fs::read_to_string(&expected).expect("the expected file is there");
        assert_eq!(made, expected, "{}", file.display());
    }
}

/// The exit code, what was said on standard error, and the library afterwards.
fn made_of(shape: &Path) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("src")).expect("a folder");
    fs::write(
        folder.path().join("Cargo.toml"),
        "[package]\nname = \"demo\"\n",
    )
    .expect("a manifest");
    let library = folder.path().join("src/lib.rs");
    fs::copy(shape, &library).expect("the shape is copied");
    let output = kubewright(&["create", "api", "--group", "web", "--version", "v1"])
        .args(["--kind", "Site"])
        .current_dir(folder.path())
        .output()
        .expect("the command runs");
    let said = String::from_utf8_lossy(&output.stderr);
    let after = fs::read_to_string(&library).expect("the library is there");
    let code = output.status.code().expect("it ended by itself");
    format!("exit {code}\n{said}---- src/lib.rs\n{after}")
}
