use std::fmt::Display;
#[cfg(not(test))]
use std::io::Write as _;

/// Writes one line for the person who waits.
///
/// libtest captures what the printing macros write; a person who waits minutes for a build must
/// see why, so this goes around it.
#[cfg(not(test))]
pub(crate) fn say(line: impl Display) {
    // Nobody is left to tell when the standard error stream is closed.
    writeln!(std::io::stderr(), "kubewright: {line}").unwrap_or_default();
}

/// Where the work is only played, nobody waits: the line goes with the test's output.
#[cfg(test)]
pub(crate) fn say(line: impl Display) {
    note(line);
}

/// Writes one line that belongs to a test's output: libtest shows it when the test fails.
#[expect(
    clippy::print_stderr,
    reason = "libtest captures what the macro prints"
)]
pub(crate) fn note(line: impl Display) {
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
