//! Files of `tests/shapes`: a `lib.rs` as somebody wrote it, and beside it (`.expected`) what
//! `create api` makes of it, or says. Files of `tests/versions`: a kind as somebody wrote it, and
//! what becomes of it when another version is asked for.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::kubewright;

#[test]
fn each_shape_of_a_library_is_registered_in_or_told_what_to_add() {
    assert!(compare("shapes", made_of) >= 8);
}

#[test]
fn each_shape_of_a_kind_gets_another_version_or_is_told_what_is_in_the_way() {
    assert!(compare("versions", version_of) >= 4);
}

/// Compares what is made of each file of a folder with what stands beside it, and counts them;
/// `UPDATE_EXPECT=1` writes the expected files anew.
fn compare(folder: &str, made_of: fn(&Path) -> String) -> usize {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(folder);
    let mut files: Vec<_> = fs::read_dir(&folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect();
    files.sort();
    for file in &files {
        let made = made_of(file);
        let expected = file.with_extension("expected");
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            fs::write(&expected, &made).expect("the file can be written");
        }
        let expected = fs::read_to_string(&expected).expect("the expected file is there");
        assert_eq!(made, expected, "{}", file.display());
    }
    files.len()
}

/// A project of these files, after a version of Site was asked for.
struct Made {
    folder: TempDir,
    code: i32,
    said: String,
}

impl Made {
    fn of(files: &[(&str, String)], version: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("src")).expect("a folder");
        let manifest = "[package]\nname = \"demo\"\n";
        fs::write(folder.path().join("Cargo.toml"), manifest).expect("a manifest");
        for (name, text) in files {
            fs::write(folder.path().join("src").join(name), text).expect("a file");
        }
        let output = kubewright(&["create", "api", "--group", "web", "--kind", "Site"])
            .args(["--version", version])
            .current_dir(folder.path())
            .output()
            .expect("the command runs");
        Self {
            folder,
            code: output.status.code().expect("it ended by itself"),
            said: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// A file of the project's now.
    fn file(&self, name: &str) -> String {
        let text = fs::read_to_string(self.folder.path().join("src").join(name));
        let text = text.unwrap_or_else(|_| "not there\n".to_owned());
        format!("---- src/{name}\n{text}")
    }
}

/// The exit code, what was said on standard error, and the library afterwards.
fn made_of(shape: &Path) -> String {
    let text = fs::read_to_string(shape).expect("the shape is there");
    let made = Made::of(&[("lib.rs", text)], "v1");
    format!("exit {}\n{}{}", made.code, made.said, made.file("lib.rs"))
}

const LIBRARY: &str = "//! The operator demo.

pub mod site;

use kubewright::prelude::*;

pub fn operator() -> Operator {
    Operator::new(\"demo\").controller(site::controller())
}
";

/// The same for a kind that is there in `v1`, with the file of the new version.
fn version_of(kind: &Path) -> String {
    let kind = fs::read_to_string(kind).expect("the kind is there");
    let files = [("lib.rs", LIBRARY.to_owned()), ("site.rs", kind)];
    let made = Made::of(&files, "v2");
    let (new, library) = (made.file("site_v2.rs"), made.file("lib.rs"));
    format!("exit {}\n{}{new}{library}", made.code, made.said)
}
