//! The tutorial, followed word for word: its lines are typed, its code is that of the operator which
//! it builds.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::cluster::Served;
use super::flow::{cargo, lock, prepare, succeeds, workspace};
use super::{kubewright, ship};

/// The lines of the page's shell blocks.
fn lines() -> Vec<String> {
    let page = workspace().join("docs/tutorial.md");
    let text = fs::read_to_string(page).expect("the tutorial");
    let mut lines = Vec::new();
    let mut is_shell = false;
    for line in text.lines() {
        match line.strip_prefix("```") {
            Some(language) => is_shell = language == "sh",
            None if is_shell => lines.push(line.to_owned()),
            None => {}
        }
    }
    lines
}

/// Somebody who reads the tutorial and does what it says.
struct Reader {
    /// Where the project is made, which the page calls `../mydaemonset`.
    project: PathBuf,
    here: PathBuf,
    kubeconfig: PathBuf,
}

impl Reader {
    fn does(&mut self, line: &str) {
        let project = self.project.to_str().expect("a path in UTF-8").to_owned();
        let line = line.replace("../mydaemonset", &project);
        let words: Vec<&str> = line.split(' ').collect();
        let Some((first, rest)) = words.split_first() else {
            return;
        };
        match *first {
            "cd" => self.here = PathBuf::from(rest[0]),
            "cargo" => drop(succeeds(cargo(rest), &self.here)),
            "kubewright" => self.types(rest),
            // What is deployed is looked at by the operators' own tests, in `deployed`.
            word => assert!(word.starts_with("KUBEWRIGHT_TEST_CLUSTER="), "{line}"),
        }
    }

    fn types(&self, words: &[&str]) {
        let mut command = kubewright(&[]);
        match words[0] {
            // There is no registry, and what is compiled already is packed.
            "image" => {
                let words = words.iter().filter(|word| **word != "--push");
                command.args(words);
                command.args(["--archive", "image.tar", "--profile", "dev"]);
            }
            "deploy" => {
                command
                    .args(words)
                    .arg("--kubeconfig")
                    .arg(&self.kubeconfig);
            }
            _ => {
                command.args(words);
            }
        }
        succeeds(command, &self.here);
    }

    /// Writes the code that the page shows: it is the operator's in this workspace.
    fn writes_the_code(&self) {
        let written = ship::operator("mydaemonset");
        for made in ["src/my_daemon_set.rs", "samples/my_daemon_set.yaml"] {
            fs::remove_file(self.project.join(made)).expect("a file of the scaffold");
        }
        fs::remove_dir_all(self.project.join("tests")).expect("its test");
        for folder in ["src", "samples"] {
            for file in fs::read_dir(written.join(folder)).expect("a folder") {
                let file = file.expect("a file").path();
                let name = file.file_name().expect("a name");
                fs::copy(&file, self.project.join(folder).join(name)).expect("a copy");
            }
        }
    }
}

/// The workspace has a program of the same name: what is made of this one goes elsewhere, and what
/// is compiled already is found where it is.
fn apart(home: &Path) {
    prepare(home);
    let path = home.join(".cargo/config.toml");
    let text = fs::read_to_string(&path).expect("the settings");
    let own = home.join("target");
    let text = text.replacen("target-dir", "build-dir", 1);
    let text = text.replacen("[build]\n", &format!("[build]\ntarget-dir = {own:?}\n"), 1);
    fs::write(path, text).expect("the settings");
}

#[test]
fn the_tutorial_leads_from_init_to_deploy() {
    let lines = lines();
    let init = lines
        .iter()
        .filter(|line| line.starts_with("kubewright init"));
    assert_eq!(init.count(), 1, "{lines:?}");
    let home = tempfile::tempdir().expect("a folder");
    apart(home.path());
    let served = Served::start(1);
    let mut reader = Reader {
        project: home.path().join("mydaemonset"),
        here: workspace(),
        kubeconfig: served.kubeconfig().to_owned(),
    };
    for line in &lines {
        reader.does(line);
        if line.starts_with("kubewright init") {
            lock(&reader.project);
        }
        if line.starts_with("cargo add") {
            reader.writes_the_code();
        }
    }
    assert!(reader.project.join("image.tar").is_file());
    let mut command = Command::new(env!("CARGO_BIN_EXE_kubewright"));
    command
        .args(["undeploy", "--kubeconfig"])
        .arg(served.kubeconfig());
    let gone = succeeds(command, &reader.project);
    let gone = String::from_utf8_lossy(&gone.stdout).into_owned();
    let line = "gone     Deployment mydaemonset-system/mydaemonset";
    assert!(gone.contains(line), "{gone}");
}
