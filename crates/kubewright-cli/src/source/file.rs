//! A Rust file: its text and its syntax.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use proc_macro2::Span;

use crate::error::Error;

/// A Rust file with its syntax.
pub(crate) struct Source {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    pub(crate) syntax: syn::File,
}

impl Source {
    /// Reads and parses a file.
    pub(crate) fn read(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path).map_err(|source| Error::File {
            action: "read",
            path: path.to_owned(),
            source,
        })?;
        Self::parse(path, text)
    }

    /// Parses the text of a file.
    pub(crate) fn parse(path: &Path, text: String) -> Result<Self, Error> {
        let syntax = syn::parse_file(&text).map_err(|source| {
            let position = source.span().start();
            Error::NotRust {
                path: path.to_owned(),
                line: position.line,
                column: position.column + 1,
                source,
            }
        })?;
        Ok(Self {
            path: path.to_owned(),
            text,
            syntax,
        })
    }

    /// Returns the range of a span in the text.
    pub(super) fn range(&self, span: Span) -> Range<usize> {
        let range = span.byte_range();
        // The parser does not count a byte order mark.
        let mark = self.byte_order_mark();
        range.start + mark..range.end + mark
    }

    fn byte_order_mark(&self) -> usize {
        if self.text.starts_with('\u{feff}') {
            '\u{feff}'.len_utf8()
        } else {
            0
        }
    }

    /// Returns the line break of the file.
    pub(super) fn line_break(&self) -> &'static str {
        if self.text.contains("\r\n") {
            "\r\n"
        } else {
            "\n"
        }
    }

    /// Returns the indentation of the line at a position.
    pub(super) fn indent_at(&self, position: usize) -> &str {
        let before = self.text.get(..position).unwrap_or_default();
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = self.text.get(start..).unwrap_or_default();
        let end = line.find(|c: char| c != ' ' && c != '\t');
        line.get(..end.unwrap_or(line.len())).unwrap_or_default()
    }

    /// Returns the position, or the end of the line if only a comment follows, which belongs to the
    /// code before it.
    pub(super) fn after_comment(&self, position: usize) -> usize {
        let rest = self.text.get(position..).unwrap_or_default();
        let line = rest.lines().next().unwrap_or_default();
        if line.trim_start().starts_with("//") {
            position + line.len()
        } else {
            position
        }
    }

    /// Returns the text with an addition at a position.
    pub(super) fn inserted(&self, position: usize, addition: &str) -> String {
        let mut text = self.text.clone();
        text.insert_str(position, addition);
        text
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}
