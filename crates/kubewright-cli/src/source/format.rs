//! Formats generated code with rustfmt.

use std::io::Write as _;
use std::process::{Command, Stdio};

/// Returns the formatted text; unchanged if rustfmt is not installed or fails.
pub(crate) fn formatted(text: &str) -> String {
    rustfmt(text).unwrap_or_else(|| text.to_owned())
}

/// Returns the new text, formatted if the old one was.
pub(crate) fn formatted_like(old: &str, new: String) -> String {
    let is_formatted = rustfmt(old).is_some_and(|text| text == old);
    if is_formatted { formatted(&new) } else { new }
}

fn rustfmt(text: &str) -> Option<String> {
    let mut rustfmt = Command::new("rustfmt")
        .args(["--edition", "2024", "--quiet"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    // rustfmt reads all input before it writes, so this cannot deadlock.
    rustfmt.stdin.take()?.write_all(text.as_bytes()).ok()?;
    let output = rustfmt.wait_with_output().ok()?;
    let formatted = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !formatted.is_empty()).then_some(formatted)
}
