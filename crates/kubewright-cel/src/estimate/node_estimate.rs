//! The estimate of one node of an expression.

use super::size_limits::Origin;
use crate::cost::{Operand, SizeEstimate};
use crate::values::Type;

/// What is known about the value of a node before the evaluation.
#[derive(Clone, Debug)]
pub(super) struct NodeEstimate<'a> {
    /// The maximum cost of the node with its children.
    pub(super) cost: u64,
    pub(super) of: &'a Type,
    pub(super) size: Option<SizeEstimate>,
    pub(super) elements: Option<ElementSizes>,
    pub(super) origin: Origin<'a>,
    /// The value of an integer literal.
    pub(super) literal: Option<i64>,
}

/// The sizes of the elements of a list or map that the expression creates.
#[derive(Clone, Copy, Debug)]
pub(super) struct ElementSizes {
    pub(super) container: Container,
    pub(super) key: SizeEstimate,
    pub(super) value: SizeEstimate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Container {
    List,
    Map,
}

impl ElementSizes {
    /// The sizes of the elements of one of two values, if both are known.
    pub(super) fn union(left: Option<Self>, right: Option<Self>) -> Option<Self> {
        let (left, right) = left.zip(right)?;
        Some(Self {
            container: left.container,
            key: left.key.union(right.key),
            value: left.value.union(right.value),
        })
    }
}

impl<'a> NodeEstimate<'a> {
    /// The estimate of a value of which only the type is known.
    pub(super) fn of(of: &'a Type, cost: u64) -> Self {
        Self {
            cost,
            of,
            size: size_of(Origin::Computed, of, None),
            elements: None,
            origin: Origin::Computed,
            literal: None,
        }
    }

    /// The size, `UNKNOWN` if nothing is known about it.
    pub(super) fn size(&self) -> SizeEstimate {
        self.size.unwrap_or(SizeEstimate::UNKNOWN)
    }

    /// The node as an argument of a call.
    pub(super) fn operand(&self) -> Operand<'a> {
        let item_size = match self.origin {
            Origin::Schema(limits) => limits
                .element
                .as_ref()
                .map_or(SizeEstimate::UNKNOWN, |element| {
                    SizeEstimate::up_to(element.most)
                }),
            Origin::Computed | Origin::Undeclared => SizeEstimate::UNKNOWN,
        };
        Operand {
            of: self.of,
            size: self.size,
            item_size,
            literal: self.literal,
        }
    }
}

/// The size of a value by its schema, else by its type, else `otherwise`.
pub(super) fn size_of(
    origin: Origin<'_>,
    of: &Type,
    otherwise: Option<SizeEstimate>,
) -> Option<SizeEstimate> {
    match origin {
        Origin::Schema(limits) => Some(SizeEstimate::up_to(limits.most)),
        Origin::Computed | Origin::Undeclared if is_scalar(of) => Some(SizeEstimate::exactly(1)),
        Origin::Computed | Origin::Undeclared => otherwise,
    }
}

/// Whether all values of a type have the same size (`isScalar`).
fn is_scalar(of: &Type) -> bool {
    match of {
        Type::Bool | Type::Double | Type::Duration | Type::Int | Type::Timestamp | Type::Uint => {
            true
        }
        Type::Optional(of) => is_scalar(of),
        _ => false,
    }
}
