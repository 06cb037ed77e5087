//! Writes tables or compares them with the existing ones.

use std::error::Error;
use std::io::Write as _;
use std::path::Path;

use flate2::{Compression, GzBuilder};

/// Whether to write or to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Write the tables.
    Write,
    /// Compare them with the existing ones.
    Check,
}

/// The result of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The tables match the server.
    UpToDate,
    /// The tables differ from the server.
    Drifted,
}

/// Compresses a text. Equal texts have equal results.
pub(crate) fn pack(text: &[u8]) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut packed = GzBuilder::new()
        .mtime(0)
        .write(Vec::new(), Compression::best());
    packed.write_all(text)?;
    Ok(packed.finish()?)
}

/// Writes or compares all tables. Prints a line for each.
pub(super) fn all(
    root: &Path,
    tables: &[(&str, Vec<u8>)],
    mode: Mode,
) -> Result<Verdict, Box<dyn Error>> {
    let mut verdict = Verdict::UpToDate;
    for (name, bytes) in tables {
        let path = root.join(name);
        let is_same = std::fs::read(&path).is_ok_and(|present| present == *bytes);
        let state = match (is_same, mode) {
            (true, _) => "unchanged",
            (false, Mode::Write) => {
                if let Some(folder) = path.parent() {
                    std::fs::create_dir_all(folder)?;
                }
                std::fs::write(&path, bytes)?;
                "written"
            }
            (false, Mode::Check) => {
                verdict = Verdict::Drifted;
                "differs: run `cargo xtask tables`"
            }
        };
        writeln!(std::io::stdout(), "{name}: {} bytes, {state}", bytes.len())?;
    }
    Ok(verdict)
}
