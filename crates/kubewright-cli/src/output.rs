//! What the command prints: results to standard output, problems to standard error.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "this is the command's output"
)]

use std::error::Error;
use std::fmt::Display;
use std::io::{self, IsTerminal as _, Write as _};

/// Prints one line of the result to standard output.
pub(crate) fn print_line(line: impl Display) {
    println!("{line}");
}

/// Prints a text to standard output. A reader that closes the pipe early, such as `head`, is not
/// an error.
pub(crate) fn print(text: &str) -> Result<(), crate::error::Error> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(source) if source.kind() != io::ErrorKind::BrokenPipe => {
            Err(crate::error::Error::Output { source })
        }
        _ => Ok(()),
    }
}

/// Prints one line about the progress to standard error.
pub(crate) fn note(line: impl Display) {
    eprintln!("{line}");
}

/// Whether standard error shows colors: on a terminal, unless `NO_COLOR` is set.
pub(crate) fn has_colors() -> bool {
    let is_disabled = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    io::stderr().is_terminal() && !is_disabled
}

/// Prints an error and its causes to standard error.
pub(crate) fn print_error(error: &dyn Error) {
    for line in error_lines(error) {
        eprintln!("{line}");
    }
}

/// Returns an error and its causes, one line each.
pub(crate) fn error_lines(error: &dyn Error) -> Vec<String> {
    let mut lines = vec![format!("error: {error}")];
    let mut cause = error.source();
    while let Some(error) = cause {
        lines.push(format!("  because: {error}"));
        cause = error.source();
    }
    lines
}

/// Prints rows below a heading, columns as wide as their widest cell.
pub(crate) fn table(heading: &[&str], rows: &[Vec<String>]) {
    for line in table_lines(heading, rows) {
        print_line(line);
    }
}

fn table_lines(heading: &[&str], rows: &[Vec<String>]) -> Vec<String> {
    let widths: Vec<usize> = heading
        .iter()
        .enumerate()
        .map(|(column, title)| {
            let cells = rows
                .iter()
                .filter_map(|row| row.get(column))
                .map(|cell| cell.chars().count());
            cells.chain([title.len()]).max().unwrap_or_default()
        })
        .collect();
    let line = |cells: Vec<&str>| {
        let padded: Vec<String> = cells
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:width$}"))
            .collect();
        padded.join("   ").trim_end().to_owned()
    };
    let body = rows
        .iter()
        .map(|row| line(row.iter().map(String::as_str).collect()));
    std::iter::once(line(heading.to_vec()))
        .chain(body)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::table_lines;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = vec![vec!["web".to_owned(), "3".to_owned()]];
        assert_eq!(
            table_lines(&["NAME", "READY"], &rows),
            ["NAME   READY", "web    3"]
        );
    }
}
