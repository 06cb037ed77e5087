//! Mistakes that the compiler must refuse, with the words it uses for them.

use std::process::Command;

/// The messages of other compilers differ; what they refuse does not.
const PINNED: &str = "rustc 1.95.";

#[test]
fn mistakes_are_refused_with_a_hint() {
    let version = Command::new("rustc").arg("--version").output();
    let version = version.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    if !version.is_ok_and(|version| version.starts_with(PINNED)) {
        return;
    }
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
