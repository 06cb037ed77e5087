//! Messages to the user who runs tests.

use std::fmt::Display;
#[cfg(not(test))]
use std::io::Write as _;

/// Writes a line to the user immediately.
///
/// libtest captures the output of the printing macros until the test ends. A user who waits minutes
/// for a build has to see the reason, so that this writes to the stream itself.
#[cfg(not(test))]
pub(crate) fn report(line: impl Display) {
    // Fails if the standard error stream is closed: then there is no other place for the line.
    drop(writeln!(std::io::stderr(), "kubewright: {line}"));
}

/// Builds are simulated in the tests of this crate: the line belongs to the output of the test.
#[cfg(test)]
pub(crate) fn report(line: impl Display) {
    log(line);
}

/// Writes a line to the output of the test, which libtest shows when the test fails.
#[expect(
    clippy::print_stderr,
    reason = "libtest captures what the macro prints"
)]
pub(crate) fn log(line: impl Display) {
    eprintln!("kubewright: {line}");
}

/// The last `count` lines of a text.
pub(crate) fn tail(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let skipped = lines.len().saturating_sub(count);
    lines
        .into_iter()
        .skip(skipped)
        .collect::<Vec<_>>()
        .join("\n")
}
