//! A fault that `check` found, and the rule that it breaks.

use std::fmt;

use clap::ValueEnum;
use serde_json::{Value, json};

/// The rules of `check`; `--allow` accepts what breaks one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Rule {
    /// A pattern is not a regular expression.
    Pattern,
    /// The path of a column does not exist, or its value does not fit the column's type.
    Column,
    /// A selectable field does not exist, or cannot be selected by.
    Selectable,
    /// A field is a floating-point number, which other languages round differently.
    Float,
    /// A definition is too large for `kubectl apply`.
    Size,
    /// A default is invalid for its own schema.
    Default,
    /// No value is within the bounds, or a required field is not in the schema.
    Bounds,
    /// Items of a list may lack the key of the list.
    ListKey,
    /// There is no status subresource: a write to the object also writes its status.
    Status,
    /// Not exactly one version is stored, or no version is served.
    Versions,
    /// Versions differ and there is no conversion.
    Conversion,
    /// A rule in CEL does not compile, or is invalid for its schema.
    Cel,
    /// The API server rejects the object for another reason.
    Rejected,
    /// Objects in a cluster would not survive the change.
    Change,
    /// A webhook can prevent a cluster from starting.
    Webhook,
    /// A role grants everything.
    Wildcard,
    /// No test used a permission.
    Unused,
}

impl Rule {
    fn name(self) -> String {
        let value = self.to_possible_value();
        value.map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

/// A fault, and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) rule: Rule,
    /// Kind and name of the object.
    pub(super) object: String,
    /// The place in the object; empty for the object as a whole.
    pub(super) place: String,
    /// What is wrong, and how to fix it.
    pub(super) message: String,
}

impl Finding {
    pub(super) fn as_json(&self) -> Value {
        json!({
            "rule": self.rule.name(),
            "object": self.object,
            "place": self.place,
            "message": self.message,
        })
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule.name(), self.object)?;
        if !self.place.is_empty() {
            write!(f, " {}", self.place)?;
        }
        write!(f, ": {}", self.message)
    }
}

/// The findings in one object.
#[derive(Debug)]
pub(super) struct Findings {
    object: String,
    findings: Vec<Finding>,
}

impl Findings {
    /// Returns an empty list for the object.
    pub(super) fn of(object: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or("?").to_owned();
        let (kind, name) = (&object["kind"], &object["metadata"]["name"]);
        Self {
            object: format!("{} {}", text(kind), text(name)),
            findings: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, rule: Rule, place: impl Into<String>, message: impl Into<String>) {
        self.findings.push(Finding {
            rule,
            object: self.object.clone(),
            place: place.into(),
            message: message.into(),
        });
    }

    pub(super) fn into_vec(self) -> Vec<Finding> {
        self.findings
    }
}
