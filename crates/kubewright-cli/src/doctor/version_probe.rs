use std::ffi::OsStr;
use std::process::{Command, Stdio};

/// The first line that a program prints, if it is there and succeeds.
pub(super) fn first_line(program: impl AsRef<OsStr>, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().next().unwrap_or_default().trim().to_owned();
    output.status.success().then_some(line)
}

/// The first version in a line, as numbers: `cargo 1.95.0 (abc)` is 1, 95.
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
    fn versions_are_found_in_what_programs_say_of_themselves() {
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
    fn a_program_that_is_not_there_says_nothing() {
        assert_eq!(first_line("kubewright-no-such-program", &[]), None);
    }
}
