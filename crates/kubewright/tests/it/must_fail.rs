//! Mistakes that must not compile, with the messages of the compiler.

use std::io::Write as _;
use std::process::Command;

/// The compiler of the stored messages; those of other versions differ.
const PINNED: &str = "rustc 1.95.";

#[test]
fn mistakes_do_not_compile_and_the_message_has_a_hint() {
    let version = Command::new("rustc").arg("--version").output();
    let version = version.expect("a compiler");
    let version = String::from_utf8_lossy(&version.stdout);
    if !version.starts_with(PINNED) {
        // Standard error is not captured by the runner, so the skip is visible.
        let reason = format!("skipped: the stored messages are those of {PINNED}x, not {version}");
        writeln!(std::io::stderr(), "{}", reason.trim_end()).expect("standard error");
        return;
    }
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
