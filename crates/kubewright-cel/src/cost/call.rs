//! Estimates of calls: what is known about the arguments, what follows for the cost and the result.

use super::factors::{REGEX_CHARACTER, STRING_CHARACTER};
use super::size::SizeEstimate;
use crate::values::Type;

/// Estimates a call from its arguments.
pub(crate) type Estimator = fn(Operands<'_>) -> CallEstimate;

/// What is known about an argument before the evaluation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operand<'a> {
    pub(crate) of: &'a Type,
    pub(crate) size: Option<SizeEstimate>,
    /// The size of the items, if it is a list of a schema.
    pub(crate) item_size: SizeEstimate,
    /// The value, if it is an integer literal.
    pub(crate) literal: Option<i64>,
}

/// The arguments of a call, with the receiver first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operands<'a>(pub(crate) &'a [Operand<'a>]);

impl<'a> Operands<'a> {
    pub(crate) fn len(self) -> usize {
        self.0.len()
    }

    fn get(self, index: usize) -> Option<&'a Operand<'a>> {
        self.0.get(index)
    }

    pub(crate) fn of(self, index: usize) -> &'a Type {
        self.get(index).map_or(&Type::Dyn, |operand| operand.of)
    }

    /// The size, `UNKNOWN` if nothing is known about it.
    pub(crate) fn size(self, index: usize) -> SizeEstimate {
        self.known_size(index).unwrap_or(SizeEstimate::UNKNOWN)
    }

    pub(crate) fn known_size(self, index: usize) -> Option<SizeEstimate> {
        self.get(index)?.size
    }

    /// The size of the items of a list.
    pub(crate) fn item_size(self, index: usize) -> SizeEstimate {
        self.get(index)
            .map_or(SizeEstimate::UNKNOWN, |operand| operand.item_size)
    }

    /// The value of an integer literal.
    pub(crate) fn literal(self, index: usize) -> Option<i64> {
        self.get(index)?.literal
    }

    /// The cost of traversing the characters of a string.
    pub(crate) fn traversal(self, index: usize) -> u64 {
        self.size(index).cost(STRING_CHARACTER)
    }
}

/// The cost of a call without its arguments, and the size of its result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallEstimate {
    pub(crate) cost: u64,
    /// `None` if the size follows from the type of the result only.
    pub(crate) size: Option<SizeEstimate>,
}

impl CallEstimate {
    pub(crate) fn cost(cost: u64) -> Self {
        Self { cost, size: None }
    }

    pub(crate) fn sized(cost: u64, size: SizeEstimate) -> Self {
        Self {
            cost,
            size: Some(size),
        }
    }
}

/// The estimate of calls whose cost does not depend on their arguments.
pub(crate) fn constant(_: Operands<'_>) -> CallEstimate {
    CallEstimate::cost(1)
}

/// The cost of matching a string, the first operand, with a regular expression, the second. One is
/// added to the length of the string, because an empty one still costs the regular expression.
pub(crate) fn regex_cost(operands: Operands<'_>) -> u64 {
    let string = operands.size(0).plus(SizeEstimate::exactly(1));
    let regex = operands.size(1).cost(REGEX_CHARACTER);
    string.cost(STRING_CHARACTER).saturating_mul(regex)
}

/// The estimate of a function that compares the items of its receiver: of a list with its strings by
/// their characters, of a string by its characters.
pub(crate) fn search_estimate(operands: Operands<'_>) -> CallEstimate {
    let Type::List(of, _) = operands.of(0) else {
        return CallEstimate::cost(operands.traversal(0));
    };
    let item = match **of {
        Type::String | Type::Bytes => operands.item_size(0).cost(STRING_CHARACTER),
        _ => 0,
    };
    let count = operands.size(0).max;
    CallEstimate::cost(count.saturating_mul(item.saturating_add(1)))
}
