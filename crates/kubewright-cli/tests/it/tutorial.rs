//! The tutorial, followed step by step: its command lines are run, and its code is that of the
//! operator in the workspace.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::cluster::ServedCluster;
use super::nested_build::{cargo, lock, operator, prepare, succeeds, workspace};
use super::{kubewright, stdout};

/// Returns the lines in the shell blocks of the page.
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

/// A user who follows the tutorial.
struct Reader {
    /// The folder of the project, `../mydaemonset` on the page.
    project: PathBuf,
    current_folder: PathBuf,
    kubeconfig: PathBuf,
}

impl Reader {
    fn run(&mut self, line: &str) {
        let project = self.project.to_str().expect("a path in UTF-8").to_owned();
        let command = line.replace("../mydaemonset", &project);
        let words: Vec<&str> = command.split(' ').collect();
        let Some((first, rest)) = words.split_first() else {
            return;
        };
        match *first {
            "cd" => self.current_folder = PathBuf::from(rest[0]),
            "cargo" => drop(succeeds(cargo(rest), &self.current_folder)),
            "kubewright" => self.run_kubewright(rest),
            // The tests in `deployed` run the operators' own tests against a deployed operator.
            word => assert!(word.starts_with("KUBEWRIGHT_TEST_CLUSTER="), "{command}"),
        }
    }

    fn run_kubewright(&self, words: &[&str]) {
        let mut command = kubewright(&[]);
        match words[0] {
            // There is no registry, and a release build would take minutes.
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
        succeeds(command, &self.current_folder);
    }

    /// Copies the operator of the workspace, which is the code on the page.
    fn write_code(&self) {
        let source = operator("mydaemonset");
        for generated in ["src/my_daemon_set.rs", "samples/my_daemon_set.yaml"] {
            fs::remove_file(self.project.join(generated)).expect("a file of the scaffold");
        }
        fs::remove_dir_all(self.project.join("tests")).expect("its test");
        for folder in ["src", "samples"] {
            for file in fs::read_dir(source.join(folder)).expect("a folder") {
                let file = file.expect("a file").path();
                let name = file.file_name().expect("a name");
                fs::copy(&file, self.project.join(folder).join(name)).expect("a copy");
            }
        }
    }
}

/// Separates the results of builds from those of the workspace, which has a program with the same
/// name. Compiled dependencies are still used again.
fn separate_target(home: &Path) {
    prepare(home);
    let path = home.join(".cargo/config.toml");
    let text = fs::read_to_string(&path).expect("the settings");
    let own = home.join("target");
    let separate = text.replacen("target-dir", "build-dir", 1).replacen(
        "[build]\n",
        &format!("[build]\ntarget-dir = {own:?}\n"),
        1,
    );
    fs::write(path, separate).expect("the settings");
}

#[test]
fn tutorial_works_from_init_to_deploy() {
    let lines = lines();
    let init = lines
        .iter()
        .filter(|line| line.starts_with("kubewright init"));
    assert_eq!(init.count(), 1, "{lines:?}");
    let home = tempfile::tempdir().expect("a folder");
    separate_target(home.path());
    let served = ServedCluster::start(1);
    let mut reader = Reader {
        project: home.path().join("mydaemonset"),
        current_folder: workspace(),
        kubeconfig: served.kubeconfig().to_owned(),
    };
    for line in &lines {
        reader.run(line);
        if line.starts_with("kubewright init") {
            lock(&reader.project);
        }
        if line.starts_with("cargo add") {
            reader.write_code();
        }
    }
    assert!(reader.project.join("image.tar").is_file());
    let mut command = Command::new(env!("CARGO_BIN_EXE_kubewright"));
    command
        .args(["undeploy", "--kubeconfig"])
        .arg(served.kubeconfig());
    let undeployed = stdout(&succeeds(command, &reader.project));
    let line = "gone     Deployment mydaemonset-system/mydaemonset";
    assert!(undeployed.contains(line), "{undeployed}");
}
