use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::output::say;

/// Changes to a project's files that are made together: a file that must be new and is there
/// already stops all of them.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    new: Vec<(PathBuf, String)>,
    edits: Vec<(PathBuf, String)>,
}

impl Changes {
    /// Makes a file.
    pub(crate) fn make(&mut self, path: impl Into<PathBuf>, text: impl Into<String>) {
        self.new.push((path.into(), text.into()));
    }

    /// Gives a file that is there another text.
    pub(crate) fn edit(&mut self, path: impl Into<PathBuf>, text: impl Into<String>) {
        self.edits.push((path.into(), text.into()));
    }

    /// Does all of it and says each file, as seen from `folder`.
    pub(crate) fn write(self, folder: &Path) -> Result<(), Error> {
        let present = self.new.iter().find(|(path, _)| path.exists());
        if let Some((path, _)) = present {
            return Err(Error::FileIsThere { path: path.clone() });
        }
        let shown = |path: &Path| {
            path.strip_prefix(folder)
                .unwrap_or(path)
                .display()
                .to_string()
        };
        for (path, text) in &self.new {
            write(path, text)?;
            say(format_args!("made     {}", shown(path)));
        }
        for (path, text) in &self.edits {
            write(path, text)?;
            say(format_args!("changed  {}", shown(path)));
        }
        Ok(())
    }
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    let failed = |source| Error::File {
        action: "write",
        path: path.to_owned(),
        source,
    };
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    std::fs::write(path, text).map_err(failed)
}

/// How many files the project consists of, but for what cargo and git make.
pub(crate) fn count_files(folder: &Path) -> usize {
    let entries = folder
        .read_dir()
        .into_iter()
        .flatten()
        .filter_map(Result::ok);
    let own = entries.filter(|entry| {
        let name = entry.file_name();
        !["target", ".git", "Cargo.lock"]
            .iter()
            .any(|made| name == *made)
    });
    own.map(|entry| match entry.path().is_dir() {
        true => count_files(&entry.path()),
        false => 1,
    })
    .sum()
}
