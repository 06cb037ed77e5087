use std::path::{Path, PathBuf};

use serde_json::json;

use crate::error::Error;
use crate::output::{print, say};
use crate::output_format::OutputFormat;

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

    /// Does all of it and tells each file, as seen from `folder`.
    pub(crate) fn write(self, folder: &Path, form: OutputFormat) -> Result<Written, Error> {
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
        let mut written = Written {
            form,
            made: Vec::new(),
            changed: Vec::new(),
        };
        for (path, text) in &self.new {
            write(path, text)?;
            form.tell(format_args!("made     {}", shown(path)));
            written.made.push(shown(path));
        }
        for (path, text) in &self.edits {
            write(path, text)?;
            form.tell(format_args!("changed  {}", shown(path)));
            written.changed.push(shown(path));
        }
        Ok(written)
    }
}

/// The files that were written.
#[derive(Debug)]
#[must_use]
pub(crate) struct Written {
    form: OutputFormat,
    made: Vec<String>,
    changed: Vec<String>,
}

impl Written {
    /// Adds what was written before.
    pub(crate) fn after(mut self, earlier: Self) -> Self {
        self.made.splice(..0, earlier.made);
        self.changed.splice(..0, earlier.changed);
        self
    }

    /// Says how many files the project has now, and what to do next.
    pub(crate) fn answer(&self, files: usize, next: &str) -> Result<(), Error> {
        match self.form {
            OutputFormat::Text => {
                say(format_args!("{files} files; {next}"));
                Ok(())
            }
            OutputFormat::Json => {
                let answer = json!({
                    "made": self.made, "changed": self.changed, "files": files, "next": next,
                });
                print(&format!("{answer:#}\n"))
            }
        }
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
