//! The files of an operator, polled for changes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tokio::time::Instant;

const POLL: Duration = Duration::from_millis(250);

/// Which files were saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Saved {
    /// Files that the program is built from.
    Code,
    /// Only samples.
    Samples,
}

/// The files of an operator's folder.
#[derive(Debug)]
pub(super) struct SourceFiles {
    folder: PathBuf,
    /// The files as last returned to the caller.
    known: Snapshot,
    /// The files at the last poll.
    last: Snapshot,
    next_poll: Instant,
}

type Snapshot = BTreeMap<PathBuf, (Option<SystemTime>, u64)>;

impl SourceFiles {
    /// Starts with the files as they are now.
    pub(super) fn in_folder(folder: &Path) -> Self {
        let known = snapshot(folder);
        Self {
            folder: folder.to_owned(),
            last: known.clone(),
            known,
            next_poll: Instant::now() + POLL,
        }
    }

    /// Waits until files were saved and two polls see the same files: editors and version control
    /// write several files one after another.
    ///
    /// # Cancel safety
    ///
    /// Safe: the next call returns the changes that this one did not return.
    pub(super) async fn saved(&mut self) -> Saved {
        loop {
            tokio::time::sleep_until(self.next_poll).await;
            self.next_poll = Instant::now() + POLL;
            let now = snapshot(&self.folder);
            let is_settled = now == self.last;
            self.last = now;
            if is_settled && self.last != self.known {
                let saved = difference(&self.folder, &self.known, &self.last);
                self.known = self.last.clone();
                return saved;
            }
        }
    }
}

/// Returns which files differ; code has precedence over samples.
fn difference(folder: &Path, old: &Snapshot, new: &Snapshot) -> Saved {
    let samples = folder.join("samples");
    let mut differing = old
        .keys()
        .chain(new.keys())
        .filter(|path| old.get(*path) != new.get(*path));
    if differing.all(|path| path.starts_with(&samples)) {
        Saved::Samples
    } else {
        Saved::Code
    }
}

/// Returns the inputs of a build and the samples, without the outputs of a build.
fn snapshot(folder: &Path) -> Snapshot {
    let mut found = Snapshot::new();
    for part in ["src", "samples", "build.rs", "Cargo.toml", "Cargo.lock"] {
        collect(&folder.join(part), &mut found);
    }
    found
}

/// Adds the files below a path. A file that is deleted meanwhile is skipped.
fn collect(path: &Path, found: &mut Snapshot) {
    let Ok(metadata) = path.metadata() else {
        return;
    };
    if !metadata.is_dir() {
        found.insert(path.to_owned(), (metadata.modified().ok(), metadata.len()));
        return;
    }
    let entries = path.read_dir().into_iter().flatten();
    for entry in entries.filter_map(Result::ok) {
        collect(&entry.path(), found);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Saved, SourceFiles};

    #[tokio::test(start_paused = true)]
    async fn saved_code_has_precedence_over_saved_samples() {
        let folder = tempfile::tempdir().unwrap();
        for part in ["src", "samples", "target"] {
            fs::create_dir(folder.path().join(part)).unwrap();
        }
        let mut files = SourceFiles::in_folder(folder.path());
        fs::write(folder.path().join("target/out"), "ignored").unwrap();
        fs::write(folder.path().join("samples/a.yaml"), "a: 1").unwrap();
        assert_eq!(files.saved().await, Saved::Samples);
        fs::write(folder.path().join("src/lib.rs"), "// new").unwrap();
        fs::write(folder.path().join("samples/a.yaml"), "a: 12").unwrap();
        assert_eq!(files.saved().await, Saved::Code);
    }
}
