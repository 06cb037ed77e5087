//! Changes to existing sources. Each file in `tests/registration` is a `lib.rs` of a user, each file
//! in `tests/versions` a kind that gets another version; the file `.expected` beside it has the
//! output of `create api` and the changed sources.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::{kubewright, stderr};

#[test]
fn controller_is_registered_in_each_library_or_the_error_names_the_line() {
    assert!(compare("registration", with_controller) >= 8);
}

#[test]
fn each_kind_gets_another_version_or_the_error_names_the_obstacle() {
    assert!(compare("versions", with_another_version) >= 4);
}

/// Compares the result for each file in a folder with the expected file, and returns the number of
/// files; `UPDATE_EXPECT=1` writes the expected files.
fn compare(folder: &str, result_of: fn(&Path) -> String) -> usize {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(folder);
    let mut files: Vec<_> = fs::read_dir(&folder)
        .expect("the folder exists")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect();
    files.sort();
    for file in &files {
        let result = result_of(file);
        let path = file.with_extension("expected");
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            fs::write(&path, &result).expect("the file can be written");
        }
        let expected = fs::read_to_string(&path).expect("the expected file exists");
        assert_eq!(result, expected, "{}", file.display());
    }
    files.len()
}

/// A project after `create api` for the kind Site.
struct ChangedProject {
    folder: TempDir,
    code: i32,
    stderr: String,
}

impl ChangedProject {
    /// Writes the files and calls `create api` for a version.
    fn create(files: &[(&str, String)], version: &str) -> Self {
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
            code: output.status.code().expect("an exit code"),
            stderr: stderr(&output),
        }
    }

    /// Returns a file of the project under a heading.
    fn file(&self, name: &str) -> String {
        let text = fs::read_to_string(self.folder.path().join("src").join(name));
        let text = text.unwrap_or_else(|_| "does not exist\n".to_owned());
        format!("---- src/{name}\n{text}")
    }
}

/// Returns the exit code, standard error and the changed library.
fn with_controller(library: &Path) -> String {
    let text = fs::read_to_string(library).expect("the library");
    let project = ChangedProject::create(&[("lib.rs", text)], "v1");
    let library = project.file("lib.rs");
    format!("exit {}\n{}{library}", project.code, project.stderr)
}

const LIBRARY: &str = "//! The operator demo.

pub mod site;

use kubewright::prelude::*;

pub fn operator() -> Operator {
    Operator::new(\"demo\").controller(site::controller())
}
";

/// Returns the exit code, standard error, the file of the new version and the changed library.
fn with_another_version(kind: &Path) -> String {
    let kind = fs::read_to_string(kind).expect("the kind");
    let files = [("lib.rs", LIBRARY.to_owned()), ("site.rs", kind)];
    let project = ChangedProject::create(&files, "v2");
    let (new, library) = (project.file("site_v2.rs"), project.file("lib.rs"));
    format!("exit {}\n{}{new}{library}", project.code, project.stderr)
}
