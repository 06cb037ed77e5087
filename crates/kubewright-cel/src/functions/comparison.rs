//! The operators `==`, `!=`, `<`, `<=`, `>` and `>=`.

use std::cmp::Ordering;

use super::arguments::Arguments;
use super::overload::{Overload, global};
use super::type_pattern::{A, BOOL, BYTES, DOUBLE, DURATION, INT, STRING, TIMESTAMP, UINT};
use crate::cost::{CallEstimate, Operands, STRING_CHARACTER, constant, scale};
use crate::error::EvaluationError;
use crate::values::{EvaluationResult, Type, Value, equal};

/// The length of the longest name of a format.
const MAX_FORMAT_NAME: u64 = 64;

pub(super) static EQUALITY: &[Overload] = &[
    global("_==_", &[A, A], BOOL).overload(
        "equals",
        |args, budget| equal(args.value(0)?, args.value(1)?, budget).map(Value::Bool),
        equality_estimate,
    ),
    global("_!=_", &[A, A], BOOL).overload(
        "not_equals",
        |args, budget| {
            let is_equal = equal(args.value(0)?, args.value(1)?, budget)?;
            Ok(Value::Bool(!is_equal))
        },
        comparison_estimate,
    ),
];

/// The overloads of one ordering operator, for all types that have an order and for numbers across
/// types.
macro_rules! ordering_overloads {
    ($function:literal, $id:literal, $holds:path) => {
        [
            ordering_overloads!(@ $function, $id, "_bool", BOOL, BOOL, $holds, constant),
            ordering_overloads!(@ $function, $id, "_int64", INT, INT, $holds, constant),
            ordering_overloads!(@ $function, $id, "_uint64", UINT, UINT, $holds, constant),
            ordering_overloads!(@ $function, $id, "_double", DOUBLE, DOUBLE, $holds, constant),
            ordering_overloads!(@ $function, $id, "_string", STRING, STRING, $holds, comparison_estimate),
            ordering_overloads!(@ $function, $id, "_bytes", BYTES, BYTES, $holds, comparison_estimate),
            ordering_overloads!(@ $function, $id, "_duration", DURATION, DURATION, $holds, constant),
            ordering_overloads!(@ $function, $id, "_timestamp", TIMESTAMP, TIMESTAMP, $holds, constant),
            ordering_overloads!(@ $function, $id, "_int64_uint64", INT, UINT, $holds, constant),
            ordering_overloads!(@ $function, $id, "_int64_double", INT, DOUBLE, $holds, constant),
            ordering_overloads!(@ $function, $id, "_uint64_int64", UINT, INT, $holds, constant),
            ordering_overloads!(@ $function, $id, "_uint64_double", UINT, DOUBLE, $holds, constant),
            ordering_overloads!(@ $function, $id, "_double_int64", DOUBLE, INT, $holds, constant),
            ordering_overloads!(@ $function, $id, "_double_uint64", DOUBLE, UINT, $holds, constant),
        ]
    };
    (@ $function:literal, $id:literal, $suffix:literal, $left:ident, $right:ident, $holds:path, $estimator:ident) => {
        global($function, &[$left, $right], BOOL).overload(
            concat!($id, $suffix),
            |args, _| compare(args, $holds),
            $estimator,
        )
    };
}

pub(super) static LESS: [Overload; 14] = ordering_overloads!("_<_", "less", Ordering::is_lt);
pub(super) static LESS_EQUALS: [Overload; 14] =
    ordering_overloads!("_<=_", "less_equals", Ordering::is_le);
pub(super) static GREATER: [Overload; 14] = ordering_overloads!("_>_", "greater", Ordering::is_gt);
pub(super) static GREATER_EQUALS: [Overload; 14] =
    ordering_overloads!("_>=_", "greater_equals", Ordering::is_ge);

fn compare(args: Arguments<'_>, holds: fn(Ordering) -> bool) -> EvaluationResult {
    let (left, right) = (args.value(0)?, args.value(1)?);
    match left.order(right) {
        Some(order) => Ok(Value::Bool(holds(order))),
        // NaN has no order with any number. No comparison with it holds.
        None if left.float().is_some() && right.float().is_some() => Ok(Value::Bool(false)),
        None => Err(EvaluationError::no_such_overload()),
    }
}

/// A comparison ends with the smaller value.
fn comparison_estimate(operands: Operands<'_>) -> CallEstimate {
    let compared = operands.size(0).max.min(operands.size(1).max);
    CallEstimate::cost(scale(compared, STRING_CHARACTER))
}

/// Values of Kubernetes' own types have costs of their own.
fn equality_estimate(operands: Operands<'_>) -> CallEstimate {
    let (left, right) = (operands.of(0), operands.of(1));
    let cost = match right {
        Type::Opaque(name) if left == right => opaque_equality(name, operands),
        _ => None,
    };
    cost.map_or_else(|| comparison_estimate(operands), CallEstimate::cost)
}

fn opaque_equality(name: &str, operands: Operands<'_>) -> Option<u64> {
    match name {
        "kubernetes.NamedFormat" => Some(scale(MAX_FORMAT_NAME, STRING_CHARACTER)),
        "kubernetes.URL" => {
            let size = operands.known_size(1).map_or(1, |size| size.max);
            Some(scale(size, STRING_CHARACTER))
        }
        "net.IP" | "net.CIDR" | "kubernetes.Quantity" | "kubernetes.Semver" => Some(1),
        _ => None,
    }
}
