//! Versions of installed programs.

use std::ffi::OsStr;
use std::process::{Command, Stdio};

/// Returns the first line that a program prints, if it is installed and succeeds.
pub(super) fn first_line(program: impl AsRef<OsStr>, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().next().unwrap_or_default().trim();
    output.status.success().then(|| line.to_owned())
}

/// Returns major and minor of the first version in a line: 1 and 95 for `cargo 1.95.0 (abc)`.
pub(super) fn version_in(line: &str) -> Option<(u32, u32)> {
    let words = line.split(|c: char| !(c.is_ascii_digit() || c == '.'));
    let mut versions = words.filter_map(|word| {
        let mut numbers = word.split('.');
        Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
    });
    versions.next()
}

#[cfg(test)]
mod tests {
    use super::{first_line, version_in};

    #[test]
    fn version_is_found_in_the_output_of_a_program() {
        for (line, version) in [
            ("cargo 1.95.0 (abc 2026-03-01)", Some((1, 95))),
            ("go version go1.26.8 linux/amd64", Some((1, 26))),
            ("cc (Debian 14.2.0-19) 14.2.0", Some((14, 2))),
            ("nothing here", None),
        ] {
            assert_eq!(version_in(line), version, "{line}");
        }
    }

    #[test]
    fn missing_program_has_no_output() {
        assert_eq!(first_line("kubewright-no-such-program", &[]), None);
    }
}
