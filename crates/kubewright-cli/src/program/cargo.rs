use std::ffi::OsString;
use std::path::Path;

use kubewright_testing::package_variables;
use tokio::process::Command;

/// Cargo, in a package's folder.
///
/// What cargo tells a program that it runs about that program's own package is left out: a build
/// that inherits it compiles again whatever depends on it, such as `ring`.
pub(crate) fn cargo(folder: &Path) -> Command {
    let mut command = Command::new(program());
    command.current_dir(folder);
    for name in package_variables() {
        command.env_remove(name);
    }
    command
}

/// Cargo tells the programs it runs which cargo it is.
fn program() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}
