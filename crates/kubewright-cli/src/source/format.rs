use std::io::Write as _;
use std::process::{Command, Stdio};

/// The text as rustfmt writes it, or as it is where rustfmt is missing or refuses it.
pub(crate) fn formatted(text: &str) -> String {
    rustfmt(text).unwrap_or_else(|| text.to_owned())
}

/// The new text as rustfmt writes it, when the old one was formatted so; otherwise as it is.
pub(crate) fn formatted_like(old: &str, new: String) -> String {
    match rustfmt(old) {
        Some(tidy) if tidy == old => formatted(&new),
        _ => new,
    }
}

fn rustfmt(text: &str) -> Option<String> {
    let mut rustfmt = Command::new("rustfmt")
        .args(["--edition", "2024", "--quiet"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    // It reads all of its input before it writes, so neither side waits for the other.
    rustfmt.stdin.take()?.write_all(text.as_bytes()).ok()?;
    let output = rustfmt.wait_with_output().ok()?;
    let tidy = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !tidy.is_empty()).then_some(tidy)
}
