//! The output of the command: progress on standard error, results on standard output.

use std::io::Write as _;

use crate::error::Error;

/// Prints a message about the progress on standard error.
#[expect(
    clippy::print_stderr,
    reason = "the program's progress; results go to standard output"
)]
pub(crate) fn note(text: &str) {
    eprintln!("{text}");
}

/// Prints results on standard output.
pub(crate) fn result(text: &str) -> Result<(), Error> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(Error::Print)
}
