//! Lists as sets (cel-go/ext/sets.go).

use super::overload::{Overload, global};
use super::type_pattern::{BOOL, LIST_OF_A};
use crate::cost::{CallEstimate, Operands};
use crate::values::{Value, contains_all, intersects};

pub(super) static OVERLOADS: &[Overload] = &[
    global("sets.contains", &[LIST_OF_A, LIST_OF_A], BOOL).overload(
        "list_sets_contains_list",
        |args, budget| contains_all(args.list(0)?, args.list(1)?, budget).map(Value::Bool),
        |operands| pairs_estimate(operands, 1.0),
    ),
    global("sets.equivalent", &[LIST_OF_A, LIST_OF_A], BOOL).overload(
        "list_sets_equivalent_list",
        |args, budget| {
            let (left, right) = (args.list(0)?, args.list(1)?);
            let is_equivalent =
                contains_all(left, right, budget)? && contains_all(right, left, budget)?;
            Ok(Value::Bool(is_equivalent))
        },
        |operands| pairs_estimate(operands, 2.0),
    ),
    global("sets.intersects", &[LIST_OF_A, LIST_OF_A], BOOL).overload(
        "list_sets_intersects_list",
        |args, budget| intersects(args.list(0)?, args.list(1)?, budget).map(Value::Bool),
        |operands| pairs_estimate(operands, 1.0),
    ),
];

/// Each item of one list is compared with each of the other.
fn pairs_estimate(operands: Operands<'_>, factor: f64) -> CallEstimate {
    let pairs = operands.size(0).times(operands.size(1));
    CallEstimate::cost(pairs.cost(factor).saturating_add(1))
}
