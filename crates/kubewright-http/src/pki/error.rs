//! The error of the certificate authority.

use std::fmt;

/// A key or certificate that could not be created.
///
/// The names in the request are the only input, so the source is about one of them.
#[derive(Debug)]
pub struct Error {
    tried: &'static str,
    subject: String,
    source: Option<rcgen::Error>,
}

impl Error {
    pub(super) fn new(tried: &'static str, subject: &str, source: rcgen::Error) -> Self {
        Self {
            tried,
            subject: subject.to_owned(),
            source: Some(source),
        }
    }

    pub(super) fn malformed(tried: &'static str, subject: &str) -> Self {
        Self {
            tried,
            subject: subject.to_owned(),
            source: None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} for {:?}", self.tried, self.subject)?;
        if self.source.is_none() {
            f.write_str(": the encoded certificate has an unknown layout")?;
        }
        f.write_str("; check its names")
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source
            .as_ref()
            .map(|source| source as &(dyn std::error::Error + 'static))
    }
}
