use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use crate::error::Error;

/// The value of a flag, or the answer of a person at a terminal.
pub(super) fn required(flag: &'static str, value: Option<&str>) -> Result<String, Error> {
    if let Some(value) = value {
        return Ok(value.to_owned());
    }
    let missing = || Error::MissingFlag { flag };
    if !io::stdin().is_terminal() {
        return Err(missing());
    }
    let failed = |source| Error::Terminal { source };
    let mut terminal = io::stderr();
    write!(terminal, "{}: ", flag.trim_start_matches('-')).map_err(failed)?;
    terminal.flush().map_err(failed)?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer).map_err(failed)?;
    match answer.trim() {
        "" => Err(missing()),
        answer => Ok(answer.to_owned()),
    }
}
