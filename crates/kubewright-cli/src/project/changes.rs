//! Changes to the files of a project, written together.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::error::Error;
use crate::output::{print, print_line};
use crate::output_format::OutputFormat;

/// Changes to the files of a project. When a new file exists already, none of them is written.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    new: Vec<(PathBuf, String)>,
    edits: Vec<(PathBuf, String)>,
}

impl Changes {
    /// Adds a new file.
    pub(crate) fn create(&mut self, path: impl Into<PathBuf>, text: impl Into<String>) {
        self.new.push((path.into(), text.into()));
    }

    /// Replaces the text of an existing file.
    pub(crate) fn edit(&mut self, path: impl Into<PathBuf>, text: impl Into<String>) {
        self.edits.push((path.into(), text.into()));
    }

    /// Writes all changes and prints each file, relative to `folder`.
    pub(crate) fn write(self, folder: &Path, format: OutputFormat) -> Result<WrittenFiles, Error> {
        let existing = self.new.iter().find(|(path, _)| path.exists());
        if let Some((path, _)) = existing {
            return Err(Error::FileExists { path: path.clone() });
        }
        let relative = |path: &Path| {
            path.strip_prefix(folder)
                .unwrap_or(path)
                .display()
                .to_string()
        };
        let mut written = WrittenFiles {
            format,
            created: Vec::new(),
            changed: Vec::new(),
        };
        for (path, text) in &self.new {
            write(path, text)?;
            format.progress(format_args!("created  {}", relative(path)));
            written.created.push(relative(path));
        }
        for (path, text) in &self.edits {
            write(path, text)?;
            format.progress(format_args!("changed  {}", relative(path)));
            written.changed.push(relative(path));
        }
        Ok(written)
    }
}

/// The files that were written.
#[derive(Debug)]
#[must_use]
pub(crate) struct WrittenFiles {
    format: OutputFormat,
    created: Vec<String>,
    changed: Vec<String>,
}

impl WrittenFiles {
    /// Returns these files after those that were written earlier.
    pub(crate) fn after(mut self, earlier: Self) -> Self {
        self.created.splice(..0, earlier.created);
        self.changed.splice(..0, earlier.changed);
        self
    }

    /// Prints how many files the project has, and the next step.
    pub(crate) fn print_summary(&self, files: usize, next: &str) -> Result<(), Error> {
        match self.format {
            OutputFormat::Text => {
                print_line(format_args!("{files} files; {next}"));
                Ok(())
            }
            OutputFormat::Json => {
                let summary = json!({
                    "created": self.created, "changed": self.changed, "files": files, "next": next,
                });
                print(&format!("{summary:#}\n"))
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

/// Returns the number of files in the project, without those that cargo and git write.
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
            .any(|generated| name == *generated)
    });
    own.map(|entry| {
        let path = entry.path();
        if path.is_dir() { count_files(&path) } else { 1 }
    })
    .sum()
}
