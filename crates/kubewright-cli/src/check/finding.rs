use std::fmt;

use clap::ValueEnum;
use serde_json::{Value, json};

/// What is looked for; `--allow` names those that are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Rule {
    /// A pattern that is no regular expression.
    Pattern,
    /// A column whose path leads nowhere, or to a value that its type cannot show.
    Column,
    /// A selectable field that is not there, or cannot be selected by.
    Selectable,
    /// A floating-point number, which other languages round in their own ways.
    Float,
    /// A definition that is too large for its users or for the store.
    Size,
    /// A default that its own schema refuses.
    Default,
    /// Bounds that no value fits into, or a required field that the schema does not have.
    Bounds,
    /// A list whose map keys its items need not have.
    ListKey,
    /// A status that anybody who may write the object writes, too.
    Status,
    /// Versions of which none or several are stored, or none is served.
    Versions,
    /// Versions that differ without a conversion between them.
    Conversion,
    /// A rule in CEL that does not compile, or that its schema does not allow.
    Cel,
    /// Whatever else the API server refuses.
    Refused,
    /// A change that objects in a cluster would not survive.
    Change,
    /// A webhook that can keep a cluster from starting.
    Guard,
    /// A permission for everything.
    Wildcard,
    /// A permission that no test used.
    Unused,
}

impl Rule {
    fn name(self) -> String {
        let value = self.to_possible_value();
        value.map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

/// One fault, and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) rule: Rule,
    /// Kind and name of the object.
    pub(super) object: String,
    /// Where in it.
    pub(super) place: String,
    /// What is wrong, and what to do.
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

/// The faults of one object, as they are found.
#[derive(Debug)]
pub(super) struct Findings {
    object: String,
    found: Vec<Finding>,
}

impl Findings {
    /// For an object.
    pub(super) fn of(object: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or("?").to_owned();
        let (kind, name) = (&object["kind"], &object["metadata"]["name"]);
        Self {
            object: format!("{} {}", text(kind), text(name)),
            found: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, rule: Rule, place: impl Into<String>, message: impl Into<String>) {
        self.found.push(Finding {
            rule,
            object: self.object.clone(),
            place: place.into(),
            message: message.into(),
        });
    }

    pub(super) fn into_vec(self) -> Vec<Finding> {
        self.found
    }
}
