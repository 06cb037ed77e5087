use std::ffi::OsString;
use std::path::Path;

use tokio::process::Command;

/// Cargo, in a package's folder.
///
/// What cargo tells a program that it runs about that program's own package is left out: a build
/// that inherits it compiles again whatever depends on it, such as `ring`.
pub(crate) fn cargo(folder: &Path) -> Command {
    let mut command = Command::new(program());
    command.current_dir(folder);
    for name in of_another_package(std::env::vars_os().map(|(name, _)| name)) {
        command.env_remove(name);
    }
    command
}

/// Cargo tells the programs it runs which cargo it is.
fn program() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

fn of_another_package(names: impl Iterator<Item = OsString>) -> impl Iterator<Item = OsString> {
    const ABOUT: [&str; 5] = [
        "CARGO_PKG_",
        "CARGO_MANIFEST_",
        "CARGO_BIN_",
        "CARGO_CRATE_",
        "OUT_DIR",
    ];
    names.filter(|name| {
        let name = name.to_string_lossy();
        ABOUT.iter().any(|prefix| name.starts_with(prefix))
    })
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::of_another_package;

    #[test]
    fn a_build_inherits_settings_and_not_another_package() {
        let names = [
            "CARGO_PKG_NAME",
            "CARGO_HOME",
            "CARGO_MANIFEST_DIR",
            "PATH",
            "CARGO",
            "OUT_DIR",
        ];
        let dropped: Vec<_> = of_another_package(names.into_iter().map(OsString::from)).collect();
        assert_eq!(dropped, ["CARGO_PKG_NAME", "CARGO_MANIFEST_DIR", "OUT_DIR"]);
    }
}
