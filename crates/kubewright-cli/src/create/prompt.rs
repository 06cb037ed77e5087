//! Prompts for required flags that are missing.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use crate::error::Error;

/// Returns the value of a flag; without one, prompts for it on a terminal.
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
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line).map_err(failed)?;
    match line.trim() {
        "" => Err(missing()),
        value => Ok(value.to_owned()),
    }
}
