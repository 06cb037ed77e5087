//! Cargo, as this command calls it.

use std::ffi::OsString;
use std::path::Path;

use kubewright_testing::package_variables;
use tokio::process::Command;

/// Returns a command for cargo in the folder of a package.
///
/// When cargo runs this command, it sets variables that describe this command's package. They are
/// removed: a nested build that inherits them compiles again what depends on them, such as `ring`.
pub(crate) fn cargo(folder: &Path) -> Command {
    let mut command = Command::new(program());
    command.current_dir(folder);
    for name in package_variables() {
        command.env_remove(name);
    }
    command
}

/// Returns the cargo that runs this command, which sets `CARGO`, or the one on the PATH.
fn program() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}
