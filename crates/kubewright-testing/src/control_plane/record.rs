//! A record of the programs in a folder, by which damaged ones are found.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use ring::digest::{Context, SHA256};
use serde::{Deserialize, Serialize};

use super::program::Program;
use super::release::{Release, hexadecimal};

/// The programs that were built into a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    programs: BTreeMap<String, Entry>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    /// The digest of the inputs of the build.
    inputs: String,
    size: u64,
    /// Nanoseconds since 1970.
    modified: u64,
    sha256: String,
}

impl Record {
    /// Reads the record of a folder. A missing or invalid record is empty, so that all programs are
    /// built again.
    pub(super) fn load(folder: &Path) -> Self {
        fs::read(path(folder))
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default()
    }

    /// Writes the record atomically.
    pub(super) fn save(&self, folder: &Path) -> io::Result<()> {
        let text = serde_json::to_vec_pretty(self)?;
        let temporary = folder.join(format!(".manifest.{}", std::process::id()));
        fs::write(&temporary, text)?;
        fs::rename(temporary, path(folder))
    }

    /// Whether the program has the recorded size and time. Does not read the file.
    pub(super) fn is_current(&self, folder: &Path, release: &Release, program: Program) -> bool {
        let Some(entry) = self.entry(release, program) else {
            return false;
        };
        fs::metadata(folder.join(program.name())).is_ok_and(|file| {
            file.len() == entry.size && modified(&file).is_ok_and(|time| time == entry.modified)
        })
    }

    /// Whether the program has the recorded digest. If so, records the time of the file.
    pub(super) fn verify(&mut self, folder: &Path, release: &Release, program: Program) -> bool {
        if self.is_current(folder, release, program) {
            return true;
        }
        let Some(recorded) = self.entry(release, program) else {
            return false;
        };
        let found = match Entry::of(&folder.join(program.name()), recorded.inputs.clone()) {
            Ok(found) if found.sha256 == recorded.sha256 => found,
            _ => return false,
        };
        self.programs.insert(program.name().to_owned(), found);
        true
    }

    /// Records a program that was built and verified.
    pub(super) fn add(
        &mut self,
        folder: &Path,
        release: &Release,
        program: Program,
    ) -> io::Result<()> {
        let entry = Entry::of(&folder.join(program.name()), release.inputs(program))?;
        self.programs.insert(program.name().to_owned(), entry);
        Ok(())
    }

    fn entry(&self, release: &Release, program: Program) -> Option<&Entry> {
        let entry = self.programs.get(program.name())?;
        (entry.inputs == release.inputs(program)).then_some(entry)
    }
}

impl Entry {
    fn of(file: &Path, inputs: String) -> io::Result<Self> {
        let mut hash = Hash(Context::new(&SHA256));
        let mut opened = File::open(file)?;
        let metadata = opened.metadata()?;
        io::copy(&mut opened, &mut hash)?;
        Ok(Self {
            inputs,
            size: metadata.len(),
            modified: modified(&metadata)?,
            sha256: hexadecimal(hash.0.finish().as_ref()),
        })
    }
}

struct Hash(Context);

impl io::Write for Hash {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn path(folder: &Path) -> PathBuf {
    folder.join("manifest.json")
}

fn modified(metadata: &fs::Metadata) -> io::Result<u64> {
    let since = metadata
        .modified()?
        .duration_since(UNIX_EPOCH)
        .map_err(io::Error::other)?;
    u64::try_from(since.as_nanos()).map_err(io::Error::other)
}
