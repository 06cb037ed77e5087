//! Builds of other packages inside a test, with the settings of the workspace.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use kubewright_testing::package_variables;

use super::{stderr, stdout};

/// Returns the folder of the workspace.
pub(super) fn workspace() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.join("../..").canonicalize().expect("the workspace")
}

/// Returns the folder of an operator in the workspace.
pub(super) fn operator(name: &str) -> PathBuf {
    let operators = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../operators");
    operators.join(name)
}

/// Writes the settings of the workspace for builds below a folder: with the same target folder and
/// profiles, compiled dependencies are used again.
pub(super) fn prepare(folder: &Path) {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .parent()
        .expect("the target folder");
    let settings = folder.join(".cargo");
    fs::create_dir_all(&settings).expect("a folder");
    let mut config = format!("[build]\ntarget-dir = {target:?}\n[net]\noffline = true\n");
    for (package, level) in [("serde_json", 2), ("miniz_oxide", 3), ("ring", 3)] {
        config += &format!("[profile.dev.package.{package}]\nopt-level = {level}\n");
    }
    fs::write(settings.join("config.toml"), config).expect("the settings");
}

/// Copies the lock file of the workspace, so that a project has the same dependencies.
pub(super) fn lock(project: &Path) {
    fs::copy(workspace().join("Cargo.lock"), project.join("Cargo.lock")).expect("the lock file");
}

/// Removes the variables in which cargo describes the package of the test: a nested build that
/// inherits them compiles dependencies again.
pub(super) fn without_package_variables(command: &mut Command) {
    for name in package_variables() {
        command.env_remove(name);
    }
}

/// Runs a command in a folder; it must succeed.
pub(super) fn succeeds(mut command: Command, folder: &Path) -> Output {
    without_package_variables(&mut command);
    let output = command.current_dir(folder).output().expect("it runs");
    assert!(
        output.status.success(),
        "{command:?}\n{}\n{}",
        stdout(&output),
        stderr(&output)
    );
    output
}

/// Returns a command for the cargo that runs the test.
pub(super) fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO"));
    command.args(arguments);
    command
}
