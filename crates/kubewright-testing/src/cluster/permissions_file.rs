use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::Write as _;

use crate::{Error, Settings};

/// Adds what a test's operators were allowed to the file that `KUBEWRIGHT_PERMISSIONS` names, one
/// line each; without one it does nothing.
///
/// Tests run side by side: what one adds goes to the file in one piece.
pub(super) fn note_used(used: &BTreeSet<String>) -> Result<(), Error> {
    let Some(file) = Settings::from_environment()?.permissions else {
        return Ok(());
    };
    let lines: String = used.iter().map(|one| format!("{one}\n")).collect();
    let written = OpenOptions::new()
        .append(true)
        .create(true)
        .open(&file)
        .and_then(|mut opened| opened.write_all(lines.as_bytes()));
    written.map_err(|source| Error::Usage { file, source })
}
