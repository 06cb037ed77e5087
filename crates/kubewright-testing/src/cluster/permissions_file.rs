//! The file with the permissions that the operators of all tests used.

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::Write as _;

use crate::{Error, Settings};

/// Appends permissions to the file that `KUBEWRIGHT_PERMISSIONS` names, one per line; does nothing
/// without it.
///
/// Tests run in parallel: the lines of one test are written with one call.
pub(super) fn append_permissions(used: &BTreeSet<String>) -> Result<(), Error> {
    let Some(file) = Settings::from_environment()?.permissions else {
        return Ok(());
    };
    let lines: String = used
        .iter()
        .map(|permission| format!("{permission}\n"))
        .collect();
    let written = OpenOptions::new()
        .append(true)
        .create(true)
        .open(&file)
        .and_then(|mut opened| opened.write_all(lines.as_bytes()));
    written.map_err(|source| Error::PermissionsFile { file, source })
}
