//! Errors of regular expressions (`ErrorCode` of Go's regexp/syntax).

use std::error::Error;
use std::fmt;

/// The reason why a string is not a regular expression of Go, with the invalid part. Its text is
/// that of Go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegexError {
    code: &'static str,
    part: String,
}

impl RegexError {
    fn new(code: &'static str, part: &str) -> Self {
        Self {
            code,
            part: part.to_owned(),
        }
    }

    pub(super) fn range(part: &str) -> Self {
        Self::new("invalid character class range", part)
    }

    pub(super) fn escape(part: &str) -> Self {
        Self::new("invalid escape sequence", part)
    }

    pub(super) fn name(part: &str) -> Self {
        Self::new("invalid named capture", part)
    }

    pub(super) fn perl(part: &str) -> Self {
        Self::new("invalid or unsupported Perl syntax", part)
    }

    pub(super) fn nested_repetition(part: &str) -> Self {
        Self::new("invalid nested repetition operator", part)
    }

    pub(super) fn repeat_count(part: &str) -> Self {
        Self::new("invalid repeat count", part)
    }

    pub(super) fn open_class(part: &str) -> Self {
        Self::new("missing closing ]", part)
    }

    pub(super) fn open_group(part: &str) -> Self {
        Self::new("missing closing )", part)
    }

    pub(super) fn unopened_group(part: &str) -> Self {
        Self::new("unexpected )", part)
    }

    pub(super) fn nothing_to_repeat(part: &str) -> Self {
        Self::new("missing argument to repetition operator", part)
    }

    pub(super) fn trailing_backslash() -> Self {
        Self::new("trailing backslash at end of expression", "")
    }

    pub(super) fn too_large(part: &str) -> Self {
        Self::new("expression too large", part)
    }
}

impl fmt::Display for RegexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error parsing regexp: {}: `{}`", self.code, self.part)
    }
}

impl Error for RegexError {}
