use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tokio::time::Instant;

const POLL: Duration = Duration::from_millis(250);

/// What somebody has saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Saved {
    /// Something that the program is built from.
    Code,
    /// Only samples.
    Samples,
}

/// The files of an operator's folder, as they were when they were last looked at.
#[derive(Debug)]
pub(super) struct Files {
    folder: PathBuf,
    /// What the caller knows of.
    known: Snapshot,
    /// What was there at the last look.
    last: Snapshot,
    next_look: Instant,
}

type Snapshot = BTreeMap<PathBuf, (Option<SystemTime>, u64)>;

impl Files {
    /// The files as they are now.
    pub(super) fn look(folder: &Path) -> Self {
        let known = snapshot(folder);
        Self {
            folder: folder.to_owned(),
            last: known.clone(),
            known,
            next_look: Instant::now() + POLL,
        }
    }

    /// Waits until something was saved, and nothing more for a moment: editors and version
    /// control write many files one after another.
    ///
    /// # Cancel safety
    ///
    /// Safe: the next call sees what this one did not return.
    pub(super) async fn saved(&mut self) -> Saved {
        loop {
            tokio::time::sleep_until(self.next_look).await;
            self.next_look = Instant::now() + POLL;
            let now = snapshot(&self.folder);
            let settled = now == self.last;
            self.last = now;
            if settled && self.last != self.known {
                let saved = what(&self.folder, &self.known, &self.last);
                self.known = self.last.clone();
                return saved;
            }
        }
    }
}

/// Code, unless everything that differs is a sample.
fn what(folder: &Path, old: &Snapshot, new: &Snapshot) -> Saved {
    let samples = folder.join("samples");
    let differs = |path: &&PathBuf| old.get(*path) != new.get(*path);
    let mut differing = old.keys().chain(new.keys()).filter(differs);
    match differing.all(|path| path.starts_with(&samples)) {
        true => Saved::Samples,
        false => Saved::Code,
    }
}

/// What a build and the samples are made of; not what a build makes.
fn snapshot(folder: &Path) -> Snapshot {
    let mut found = Snapshot::new();
    for part in ["src", "samples", "build.rs", "Cargo.toml", "Cargo.lock"] {
        collect(&folder.join(part), &mut found);
    }
    found
}

/// A file that vanishes while it is looked at is not there.
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

    use super::{Files, Saved};

    #[tokio::test(start_paused = true)]
    async fn a_saved_file_is_seen_and_says_what_it_is() {
        let folder = tempfile::tempdir().unwrap();
        for part in ["src", "samples", "target"] {
            fs::create_dir(folder.path().join(part)).unwrap();
        }
        let mut files = Files::look(folder.path());
        fs::write(folder.path().join("target/out"), "ignored").unwrap();
        fs::write(folder.path().join("samples/a.yaml"), "a: 1").unwrap();
        assert_eq!(files.saved().await, Saved::Samples);
        fs::write(folder.path().join("src/lib.rs"), "// new").unwrap();
        fs::write(folder.path().join("samples/a.yaml"), "a: 12").unwrap();
        assert_eq!(files.saved().await, Saved::Code);
    }
}
