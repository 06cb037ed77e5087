//! A project that the commands of a test write to.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;
use tempfile::TempDir;

use crate::{error_of, kubewright, stdout};

/// The command line that adds the kind Site.
pub(super) const SITE: &str = "create api --group web --version v1 --kind Site";

/// A folder that commands are called in.
pub(super) struct DemoProject {
    folder: TempDir,
}

impl DemoProject {
    /// Returns an empty folder.
    pub(super) fn empty() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a folder"),
        }
    }

    /// Returns a project that `init` created.
    pub(super) fn new() -> Self {
        let project = Self::empty();
        project.succeed("init --name demo --domain ex.io");
        project
    }

    /// Returns a project with the kind Site.
    pub(super) fn with_site() -> Self {
        let project = Self::new();
        project.succeed(SITE);
        project
    }

    pub(super) fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    /// Calls the command with the words of a line.
    pub(super) fn call(&self, line: &str) -> Output {
        self.call_with(&line.split(' ').collect::<Vec<_>>())
    }

    pub(super) fn call_with(&self, arguments: &[&str]) -> Output {
        kubewright(arguments)
            .current_dir(self.folder.path())
            .output()
            .expect("the command runs")
    }

    /// Returns the standard output of a call that must succeed.
    pub(super) fn succeed(&self, line: &str) -> String {
        let output = self.call(line);
        assert!(output.status.success(), "{line}: {output:?}");
        stdout(&output)
    }

    /// Returns the result of a call with `--output json`, which must succeed.
    pub(super) fn succeed_json(&self, line: &str) -> Value {
        let printed = self.succeed(&format!("{line} --output json"));
        serde_json::from_str(&printed).expect("one JSON value")
    }

    /// Returns the standard error of a call that must fail.
    pub(super) fn fail(&self, line: &str) -> String {
        error_of(&self.call(line))
    }

    /// Returns all files with their texts.
    pub(super) fn files(&self) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        collect(self.folder.path(), self.folder.path(), &mut found);
        found
    }
}

fn collect(root: &Path, folder: &Path, found: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(root, &path, found);
            continue;
        }
        let name = path.strip_prefix(root).expect("a path below").display();
        found.insert(name.to_string(), fs::read_to_string(&path).expect("a text"));
    }
}

/// Checks that each placeholder of the templates was replaced.
pub(super) fn assert_no_placeholders(files: &BTreeMap<String, String>) {
    for (name, text) in files {
        assert!(!text.contains("{{"), "{name} has a placeholder:\n{text}");
    }
}
