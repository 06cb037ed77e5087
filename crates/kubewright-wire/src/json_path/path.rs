//! The parsed form of a JSONPath.

use serde_json::Value;

/// A parsed JSONPath: steps from a value to some of its parts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JsonPath {
    pub(super) steps: Vec<Step>,
}

/// One step of a [`JsonPath`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Step {
    /// `.name` or `['name']`: the field of an object.
    Field(String),
    /// `.*`: all values of an object or array.
    Wildcard,
    /// `..`: the value and everything below it.
    Recursive,
    /// `[1]`: an item of an array, counted from the end if negative.
    Index(i64),
    /// `[start:end:step]`: items of an array; `[*]` has no bounds.
    Slice {
        /// The first index, counted from the end if negative.
        start: Option<i64>,
        /// The index after the last, counted from the end if negative.
        end: Option<i64>,
        /// The distance of the items.
        step: Option<i64>,
    },
    /// `[0,2]` or `['a','b']`: the values of several paths.
    Union(Vec<JsonPath>),
    /// `[?(@.type=="Ready")]`: the items of an array that match.
    Filter(Filter),
}

/// The condition of a [`Step::Filter`].
#[derive(Clone, Debug, PartialEq)]
pub struct Filter {
    /// The left operand. Without a comparison, items match in which it exists.
    pub left: Operand,
    /// The comparison with another operand.
    pub comparison: Option<Comparison>,
}

/// The comparison of a [`Filter`].
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The operator.
    pub operator: Operator,
    /// The right operand.
    pub right: Operand,
}

/// An operand of a [`Filter`].
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// A path from the item, such as `@.type`.
    Path(JsonPath),
    /// A text, number or boolean.
    Literal(Value),
}

/// The operator of a [`Comparison`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `==`.
    Equal,
    /// `!=`.
    NotEqual,
    /// `<`.
    Less,
    /// `<=`.
    LessOrEqual,
    /// `>`.
    Greater,
    /// `>=`.
    GreaterOrEqual,
}

impl JsonPath {
    /// The steps, from the root.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The names of the fields, if the path has no other steps.
    pub fn field_names(&self) -> Option<Vec<&str>> {
        self.steps
            .iter()
            .map(|step| match step {
                Step::Field(name) => Some(name.as_str()),
                _ => None,
            })
            .collect()
    }
}
