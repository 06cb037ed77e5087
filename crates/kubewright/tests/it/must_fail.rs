//! Mistakes that the compiler must refuse, with the words it uses for them.

use std::io::Write as _;
use std::process::Command;

/// The messages of other compilers differ; what they refuse does not.
const PINNED: &str = "rustc 1.95.";

#[test]
fn mistakes_are_refused_with_a_hint() {
    let version = Command::new("rustc").arg("--version").output();
    let version = version.expect("a compiler");
    let version = String::from_utf8_lossy(&version.stdout);
    if !version.starts_with(PINNED) {
        // Past the capture of the runner, so that a skip is seen.
        let reason = format!("skipped: the stored messages are those of {PINNED}x, not {version}");
        writeln!(std::io::stderr(), "{}", reason.trim_end()).expect("standard error");
        return;
    }
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
