//! A change of a definition, and what it does to stored objects.

use std::fmt;

use serde_json::Value;

/// A change of a definition that may break stored objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsafeChange {
    /// What it does to stored objects.
    pub hazard: Hazard,
    /// The version whose schema changes; none when the whole definition does.
    pub version: Option<String>,
    change: String,
}

/// What a change of a definition does to stored objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Hazard {
    /// The API server rejects the change, whether or not there are objects.
    Rejected,
    /// Objects stay valid and complete, but their meaning changes.
    Meaning,
    /// Objects may become invalid or lose fields. Validating each object shows which.
    Validity,
}

impl UnsafeChange {
    pub(super) fn of_schema(hazard: Hazard, version: &str, change: String) -> Self {
        Self {
            hazard,
            version: Some(version.to_owned()),
            change,
        }
    }

    pub(super) fn rejected(change: String) -> Self {
        Self {
            hazard: Hazard::Rejected,
            version: None,
            change,
        }
    }
}

impl fmt::Display for UnsafeChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.version {
            Some(version) => write!(f, "{version}: {}", self.change),
            None => f.write_str(&self.change),
        }
    }
}

/// The text of a field in a message.
pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("nothing")
}
