//! The environment variables of cargo that describe a package.

use std::ffi::{OsStr, OsString};

/// The environment variables with which cargo describes the package of a program that it runs.
///
/// A build that the program starts must not inherit them: it would compile crates again whose build
/// scripts read them, such as `ring`.
///
/// ```
/// let mut build = std::process::Command::new("cargo");
/// for name in kubewright_testing::package_variables() {
///     build.env_remove(name);
/// }
/// ```
pub fn package_variables() -> impl Iterator<Item = OsString> {
    let names = std::env::vars_os().map(|(name, _)| name);
    names.filter(|name| is_about_package(name))
}

fn is_about_package(name: &OsStr) -> bool {
    const ABOUT: [&str; 5] = [
        "CARGO_PKG_",
        "CARGO_MANIFEST_",
        "CARGO_BIN_",
        "CARGO_CRATE_",
        "OUT_DIR",
    ];
    let name = name.to_string_lossy();
    ABOUT.iter().any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::{is_about_package, package_variables};

    #[test]
    fn only_variables_about_a_package_are_removed() {
        let names = [
            "CARGO_PKG_NAME",
            "CARGO_HOME",
            "CARGO_MANIFEST_DIR",
            "CARGO_BIN_EXE_x",
            "CARGO_CRATE_NAME",
            "CARGO_TARGET_DIR",
            "PATH",
            "CARGO",
            "OUT_DIR",
        ];
        let removed: Vec<_> = names
            .map(OsStr::new)
            .into_iter()
            .filter(|name| is_about_package(name))
            .collect();
        assert_eq!(
            removed,
            [
                "CARGO_PKG_NAME",
                "CARGO_MANIFEST_DIR",
                "CARGO_BIN_EXE_x",
                "CARGO_CRATE_NAME",
                "OUT_DIR",
            ]
        );
        // Cargo sets this variable for this test.
        assert!(package_variables().any(|name| name == "CARGO_MANIFEST_DIR"));
    }
}
