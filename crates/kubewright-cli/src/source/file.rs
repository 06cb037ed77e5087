use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use proc_macro2::Span;

use crate::error::Error;

/// One Rust file: its text, and what it says.
pub(crate) struct Source {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    pub(crate) syntax: syn::File,
}

impl Source {
    /// Reads a file.
    pub(crate) fn read(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path).map_err(|source| Error::File {
            action: "read",
            path: path.to_owned(),
            source,
        })?;
        Self::parse(path, text)
    }

    /// Takes the text of a file apart.
    pub(crate) fn parse(path: &Path, text: String) -> Result<Self, Error> {
        let syntax = syn::parse_file(&text).map_err(|source| {
            let at = source.span().start();
            Error::NotRust {
                path: path.to_owned(),
                line: at.line,
                column: at.column + 1,
                source,
            }
        })?;
        Ok(Self {
            path: path.to_owned(),
            text,
            syntax,
        })
    }

    /// Where in the text something stands.
    pub(super) fn range(&self, span: Span) -> Range<usize> {
        let range = span.byte_range();
        let mark = self.byte_order_mark();
        range.start + mark..range.end + mark
    }

    /// The parser counts from behind it.
    pub(super) fn byte_order_mark(&self) -> usize {
        match self.text.starts_with('\u{feff}') {
            true => '\u{feff}'.len_utf8(),
            false => 0,
        }
    }

    /// The line break that the file uses.
    pub(super) fn line_break(&self) -> &'static str {
        match self.text.contains("\r\n") {
            true => "\r\n",
            false => "\n",
        }
    }

    /// The white space at the beginning of the line of a position.
    pub(super) fn indent_at(&self, position: usize) -> &str {
        let before = self.text.get(..position).unwrap_or_default();
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = self.text.get(start..).unwrap_or_default();
        let end = line.find(|c: char| c != ' ' && c != '\t');
        line.get(..end.unwrap_or(line.len())).unwrap_or_default()
    }

    /// The position, or the end of the line where only a comment follows: it stays with what is
    /// before it.
    pub(super) fn behind_comment(&self, position: usize) -> usize {
        let rest = self.text.get(position..).unwrap_or_default();
        let line = rest.lines().next().unwrap_or_default();
        match line.trim_start().starts_with("//") {
            true => position + line.len(),
            false => position,
        }
    }

    /// The text with something put in at a position.
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
