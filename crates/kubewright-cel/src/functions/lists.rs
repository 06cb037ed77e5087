//! Functions of lists (cel-go/ext/lists.go and k8s.io/apiserver/pkg/cel/library/lists.go).

use std::cmp::Ordering;

use jiff::SignedDuration;

use super::arguments::Arguments;
use super::arithmetic::add;
use super::overload::{Overload, global, member};
use super::type_pattern::{
    A, BOOL, BYTES, DOUBLE, DURATION, INT, LIST_OF_A, LIST_OF_DYN, STRING, TIMESTAMP, TypePattern,
    UINT, list,
};
use crate::budget::Budget;
use crate::cost::{
    CREATE_LIST, CallEstimate, Estimator, Operands, STRING_CHARACTER, SizeEstimate, search_estimate,
};
use crate::error::EvaluationError;
use crate::values::{EvaluationResult, Value, byte_length, distinct, order, position, sort};

/// The overloads of a function for lists of each type that has an order.
macro_rules! for_comparable_types {
    ($overload:ident) => {
        [
            $overload!(INT, "int"),
            $overload!(UINT, "uint"),
            $overload!(DOUBLE, "double"),
            $overload!(BOOL, "bool"),
            $overload!(DURATION, "duration"),
            $overload!(TIMESTAMP, "timestamp"),
            $overload!(STRING, "string"),
            $overload!(BYTES, "bytes"),
        ]
    };
}

macro_rules! is_sorted_overload {
    ($item:ident, $name:literal) => {
        member("isSorted", &[list(&$item)], BOOL).overload(
            concat!("list_", $name, "_is_sorted_bool"),
            is_sorted,
            search_estimate,
        )
    };
}

macro_rules! min_overload {
    ($item:ident, $name:literal) => {
        member("min", &[list(&$item)], $item).overload(
            concat!("list_", $name, "_min_", $name),
            |args, budget| extreme(args, "min", Ordering::is_lt, budget),
            search_estimate,
        )
    };
}

macro_rules! max_overload {
    ($item:ident, $name:literal) => {
        member("max", &[list(&$item)], $item).overload(
            concat!("list_", $name, "_max_", $name),
            |args, budget| extreme(args, "max", Ordering::is_gt, budget),
            search_estimate,
        )
    };
}

macro_rules! sort_overload {
    ($item:ident, $name:literal) => {
        member("sort", &[list(&$item)], list(&$item)).overload(
            concat!("list_", $name, "_sort"),
            sorted,
            sort_estimator($item),
        )
    };
}

pub(super) static IS_SORTED: [Overload; 8] = for_comparable_types!(is_sorted_overload);
pub(super) static MIN: [Overload; 8] = for_comparable_types!(min_overload);
pub(super) static MAX: [Overload; 8] = for_comparable_types!(max_overload);
pub(super) static SORT: [Overload; 8] = for_comparable_types!(sort_overload);

pub(super) static OVERLOADS: &[Overload] = &[
    member("sum", &[list(&INT)], INT).overload("list_int_sum_int", sum, search_estimate),
    member("sum", &[list(&UINT)], UINT).overload("list_uint_sum_uint", sum, search_estimate),
    member("sum", &[list(&DOUBLE)], DOUBLE).overload(
        "list_double_sum_double",
        sum,
        search_estimate,
    ),
    member("sum", &[list(&DURATION)], DURATION).overload(
        "list_duration_sum_duration",
        sum,
        search_estimate,
    ),
    member("indexOf", &[LIST_OF_A, A], INT).overload(
        "list_a_index_of_int",
        index_of,
        search_estimate,
    ),
    member("lastIndexOf", &[LIST_OF_A, A], INT).overload(
        "list_a_last_index_of_int",
        last_index_of,
        search_estimate,
    ),
    member("slice", &[LIST_OF_A, INT, INT], LIST_OF_A).overload(
        "list_slice",
        slice,
        slice_estimate,
    ),
    member("flatten", &[LIST_OF_A], LIST_OF_DYN).overload(
        "list_flatten",
        |args, budget| flatten(args, 1, budget),
        |operands| create_estimate(operands.size(0), 1.0),
    ),
    member("flatten", &[LIST_OF_A, INT], LIST_OF_DYN).overload(
        "list_flatten_int",
        |args, budget| flatten(args, args.int(1)?, budget),
        |operands| {
            create_estimate(
                operands.size(0),
                depth_factor(literal(operands, 1, u64::MAX)),
            )
        },
    ),
    member("distinct", &[LIST_OF_A], LIST_OF_A).overload(
        "list_distinct",
        |args, budget| distinct(args.list(0)?, budget).map(Value::list),
        |operands| create_estimate(pairs(operands), 2.0),
    ),
    member("reverse", &[LIST_OF_A], LIST_OF_A).overload(
        "list_reverse",
        |args, _| Ok(Value::list(args.list(0)?.iter().rev().cloned().collect())),
        |operands| create_estimate(operands.size(0), 1.0),
    ),
    global("lists.range", &[INT], list(&INT)).overload("lists_range", range, |operands| {
        let count = literal(operands, 0, u64::MAX);
        create_estimate(SizeEstimate::exactly(count), 1.0)
    }),
];

fn is_sorted(args: Arguments<'_>, budget: &mut Budget) -> EvaluationResult {
    for pair in args.list(0)?.windows(2) {
        if let [left, right] = pair
            && order(left, right, budget)?.is_some_and(Ordering::is_gt)
        {
            return Ok(Value::Bool(false));
        }
    }
    Ok(Value::Bool(true))
}

/// The smallest or largest item: the one that `wins` against all others.
fn extreme(
    args: Arguments<'_>,
    name: &str,
    wins: fn(Ordering) -> bool,
    budget: &mut Budget,
) -> EvaluationResult {
    let mut items = args.list(0)?.iter();
    let mut best = items
        .next()
        .ok_or_else(|| EvaluationError::new(format!("{name} called on empty list")))?;
    for item in items {
        if order(item, best, budget)?.is_some_and(wins) {
            best = item;
        }
    }
    Ok(best.clone())
}

fn sum(args: Arguments<'_>, budget: &mut Budget) -> EvaluationResult {
    let items = args.list(0)?;
    let zero = match items.first() {
        Some(Value::Uint(_)) => Value::Uint(0),
        Some(Value::Double(_)) => Value::Double(0.0),
        Some(Value::Duration(_)) => Value::Duration(SignedDuration::ZERO),
        _ => Value::Int(0),
    };
    items
        .iter()
        .try_fold(zero, |sum, item| add(sum, item.clone(), budget))
}

fn index_of(args: Arguments<'_>, budget: &mut Budget) -> EvaluationResult {
    let index = position(args.list(0)?, args.value(1)?, budget)?;
    Ok(index.map_or(Value::Int(-1), Value::length))
}

fn last_index_of(args: Arguments<'_>, budget: &mut Budget) -> EvaluationResult {
    let items = args.list(0)?;
    let from_end = position(items.iter().rev(), args.value(1)?, budget)?;
    let index = from_end.map(|from_end| items.len() - 1 - from_end);
    Ok(index.map_or(Value::Int(-1), Value::length))
}

fn sorted(args: Arguments<'_>, budget: &mut Budget) -> EvaluationResult {
    let items = args.list(0)?;
    let is_comparable = |item: &Value| {
        items
            .first()
            .is_some_and(|first| first.order(item).is_some())
    };
    budget.charge_bytes(items.iter().map(byte_length).sum())?;
    if !items.iter().all(is_comparable) {
        return Err(EvaluationError::new(
            "list elements must have the same type",
        ));
    }
    let mut sorted = items.to_vec();
    sort(&mut sorted, |item| item, budget)?;
    Ok(Value::list(sorted))
}

fn slice(args: Arguments<'_>, _: &mut Budget) -> EvaluationResult {
    let (items, start, end) = (args.list(0)?, args.int(1)?, args.int(2)?);
    let error = |reason: &str| {
        Err(EvaluationError::new(format!(
            "cannot slice({start}, {end}), {reason}"
        )))
    };
    if start < 0 || end < 0 {
        return error("negative indexes not supported");
    }
    if start > end {
        return error("start index must be less than or equal to end index");
    }
    let index = |index: i64| usize::try_from(index).unwrap_or(usize::MAX);
    match items.get(index(start)..index(end)) {
        Some(part) => Ok(Value::list(part.to_vec())),
        None => error(&format!("list is length {}", items.len())),
    }
}

fn flatten(args: Arguments<'_>, depth: i64, budget: &mut Budget) -> EvaluationResult {
    if depth < 0 {
        return Err(EvaluationError::new("level must be non-negative"));
    }
    let mut flat = Vec::new();
    flatten_into(&mut flat, args.list(0)?, depth, budget)?;
    Ok(Value::list(flat))
}

fn flatten_into(
    flat: &mut Vec<Value>,
    items: &[Value],
    depth: i64,
    budget: &mut Budget,
) -> Result<(), EvaluationError> {
    budget.charge_items(items.len())?;
    for item in items {
        match item {
            Value::List(inner, _) if depth > 0 => flatten_into(flat, inner, depth - 1, budget)?,
            other => flat.push(other.clone()),
        }
    }
    Ok(())
}

fn range(args: Arguments<'_>, budget: &mut Budget) -> EvaluationResult {
    let end = args.int(0)?;
    budget.charge_items(usize::try_from(end).unwrap_or_default())?;
    Ok(Value::list((0..end).map(Value::Int).collect()))
}

/// The value of an integer literal, zero if it is negative; `otherwise` if it is not a literal.
fn literal(operands: Operands<'_>, index: usize, otherwise: u64) -> u64 {
    operands
        .literal(index)
        .map_or(otherwise, |number| u64::try_from(number).unwrap_or(0))
}

/// The estimate of a function that creates a list of that size.
fn create_estimate(size: SizeEstimate, factor: f64) -> CallEstimate {
    let cost = size
        .cost(factor)
        .saturating_add(1)
        .saturating_add(CREATE_LIST);
    CallEstimate::sized(cost, size)
}

fn slice_estimate(operands: Operands<'_>) -> CallEstimate {
    let start = literal(operands, 1, 0);
    let end = literal(operands, 2, operands.size(0).max);
    create_estimate(SizeEstimate::exactly(end.wrapping_sub(start)), 1.0)
}

/// Strings cost more to compare than other items.
const fn sort_estimator(item: TypePattern) -> Estimator {
    match item {
        STRING | BYTES => sort_strings_estimate,
        _ => sort_estimate,
    }
}

fn sort_estimate(operands: Operands<'_>) -> CallEstimate {
    create_estimate(pairs(operands), 2.0)
}

fn sort_strings_estimate(operands: Operands<'_>) -> CallEstimate {
    create_estimate(pairs(operands), 2.0 + STRING_CHARACTER)
}

/// Each item of the list with each other one.
fn pairs(operands: Operands<'_>) -> SizeEstimate {
    let size = operands.size(0);
    size.times(size)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a depth of that size exceeds the limit with or without rounding"
)]
fn depth_factor(depth: u64) -> f64 {
    depth as f64
}
