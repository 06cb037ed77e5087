//! Revisions: resourceVersions as numbers.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A point in the history of a cluster: a resourceVersion read as the number that Kubernetes has
/// guaranteed it to be since 1.35.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
pub struct Revision(u64);

impl Revision {
    /// The revision with this number.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// Its number.
    pub const fn number(self) -> u64 {
        self.0
    }

    /// The revision after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A resourceVersion that is not a number.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("read resourceVersion {text:?} as a number: this server's revisions cannot be compared")]
pub struct ParseRevisionError {
    text: String,
}

impl FromStr for Revision {
    type Err = ParseRevisionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self).map_err(|_| ParseRevisionError {
            text: text.to_owned(),
        })
    }
}
