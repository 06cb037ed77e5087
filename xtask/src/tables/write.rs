use std::error::Error;
use std::io::Write as _;
use std::path::Path;

use flate2::{Compression, GzBuilder};

/// What to do with the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Write them.
    Write,
    /// Say whether those that are there are still true.
    Check,
}

/// Whether the tables are true now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// They are.
    UpToDate,
    /// They differ from what the server says.
    Drifted,
}

/// Compresses a text so that equal texts give equal bytes.
pub(crate) fn pack(text: &[u8]) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut packed = GzBuilder::new()
        .mtime(0)
        .write(Vec::new(), Compression::best());
    packed.write_all(text)?;
    Ok(packed.finish()?)
}

/// Writes or compares every table and prints one line for each.
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
