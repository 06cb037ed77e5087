//! The operators `+`, `-`, `*`, `/`, `%` and the sign.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::arguments::Arguments;
use super::overload::{Overload, ResultItems, global};
use super::type_pattern::{BYTES, DOUBLE, DURATION, INT, LIST_OF_A, STRING, TIMESTAMP, UINT};
use crate::budget::Budget;
use crate::cost::{CallEstimate, Operands, STRING_CHARACTER, constant};
use crate::error::EvaluationError;
use crate::values::{EvaluationResult, Value, concat};

pub(super) static OVERLOADS: &[Overload] = &[
    global("_+_", &[INT, INT], INT).overload("add_int64", add_int, constant),
    global("_+_", &[UINT, UINT], UINT).overload("add_uint64", add_uint, constant),
    global("_+_", &[DOUBLE, DOUBLE], DOUBLE).overload("add_double", add_double, constant),
    global("_+_", &[STRING, STRING], STRING).overload("add_string", add_string, concat_estimate),
    global("_+_", &[BYTES, BYTES], BYTES).overload("add_bytes", add_bytes, concat_estimate),
    global("_+_", &[LIST_OF_A, LIST_OF_A], LIST_OF_A)
        .overload("add_list", add_list, add_list_estimate)
        .items(ResultItems::FromBothArguments),
    global("_+_", &[DURATION, DURATION], DURATION).overload(
        "add_duration_duration",
        add_duration,
        constant,
    ),
    global("_+_", &[TIMESTAMP, DURATION], TIMESTAMP).overload(
        "add_timestamp_duration",
        |args, _| move_timestamp(args.timestamp(0)?.checked_add(args.duration(1)?)),
        constant,
    ),
    global("_+_", &[DURATION, TIMESTAMP], TIMESTAMP).overload(
        "add_duration_timestamp",
        |args, _| move_timestamp(args.timestamp(1)?.checked_add(args.duration(0)?)),
        constant,
    ),
    global("_-_", &[INT, INT], INT).overload(
        "subtract_int64",
        |args, _| checked_int(args.int(0)?.checked_sub(args.int(1)?)),
        constant,
    ),
    global("_-_", &[UINT, UINT], UINT).overload(
        "subtract_uint64",
        |args, _| checked_uint(args.uint(0)?.checked_sub(args.uint(1)?)),
        constant,
    ),
    global("_-_", &[DOUBLE, DOUBLE], DOUBLE).overload(
        "subtract_double",
        |args, _| Ok(Value::Double(args.double(0)? - args.double(1)?)),
        constant,
    ),
    global("_-_", &[DURATION, DURATION], DURATION).overload(
        "subtract_duration_duration",
        |args, _| checked_duration(args.duration(0)?.checked_sub(args.duration(1)?)),
        constant,
    ),
    global("_-_", &[TIMESTAMP, DURATION], TIMESTAMP).overload(
        "subtract_timestamp_duration",
        |args, _| move_timestamp(args.timestamp(0)?.checked_sub(args.duration(1)?)),
        constant,
    ),
    global("_-_", &[TIMESTAMP, TIMESTAMP], DURATION).overload(
        "subtract_timestamp_timestamp",
        |args, _| {
            let since = args.timestamp(0)?.duration_since(args.timestamp(1)?);
            Ok(Value::Duration(since))
        },
        constant,
    ),
    global("_*_", &[INT, INT], INT).overload(
        "multiply_int64",
        |args, _| checked_int(args.int(0)?.checked_mul(args.int(1)?)),
        constant,
    ),
    global("_*_", &[UINT, UINT], UINT).overload(
        "multiply_uint64",
        |args, _| checked_uint(args.uint(0)?.checked_mul(args.uint(1)?)),
        constant,
    ),
    global("_*_", &[DOUBLE, DOUBLE], DOUBLE).overload(
        "multiply_double",
        |args, _| Ok(Value::Double(args.double(0)? * args.double(1)?)),
        constant,
    ),
    global("_/_", &[INT, INT], INT).overload(
        "divide_int64",
        |args, _| match (args.int(0)?, args.int(1)?) {
            (_, 0) => Err(EvaluationError::new("division by zero")),
            (dividend, divisor) => checked_int(dividend.checked_div(divisor)),
        },
        constant,
    ),
    global("_/_", &[UINT, UINT], UINT).overload(
        "divide_uint64",
        |args, _| match (args.uint(0)?, args.uint(1)?) {
            (_, 0) => Err(EvaluationError::new("division by zero")),
            (dividend, divisor) => checked_uint(dividend.checked_div(divisor)),
        },
        constant,
    ),
    global("_/_", &[DOUBLE, DOUBLE], DOUBLE).overload(
        "divide_double",
        |args, _| Ok(Value::Double(args.double(0)? / args.double(1)?)),
        constant,
    ),
    global("_%_", &[INT, INT], INT).overload(
        "modulo_int64",
        |args, _| match (args.int(0)?, args.int(1)?) {
            (_, 0) => Err(EvaluationError::new("modulus by zero")),
            (dividend, divisor) => checked_int(dividend.checked_rem(divisor)),
        },
        constant,
    ),
    global("_%_", &[UINT, UINT], UINT).overload(
        "modulo_uint64",
        |args, _| match (args.uint(0)?, args.uint(1)?) {
            (_, 0) => Err(EvaluationError::new("modulus by zero")),
            (dividend, divisor) => checked_uint(dividend.checked_rem(divisor)),
        },
        constant,
    ),
    global("-_", &[INT], INT).overload(
        "negate_int64",
        |args, _| checked_int(args.int(0)?.checked_neg()),
        constant,
    ),
    global("-_", &[DOUBLE], DOUBLE).overload(
        "negate_double",
        |args, _| Ok(Value::Double(-args.double(0)?)),
        constant,
    ),
];

/// Adds two values by the overloads of `+`.
pub(super) fn add(left: Value, right: Value, budget: &mut Budget) -> EvaluationResult {
    let arguments = [left, right];
    let mut additions = OVERLOADS
        .iter()
        .filter(|overload| overload.signature.function == "_+_");
    match additions.find(|overload| overload.accepts(&arguments)) {
        Some(overload) => overload.call(&arguments, budget),
        None => Err(EvaluationError::no_such_overload()),
    }
}

fn add_int(args: Arguments<'_>, _: &mut Budget) -> EvaluationResult {
    checked_int(args.int(0)?.checked_add(args.int(1)?))
}

fn add_uint(args: Arguments<'_>, _: &mut Budget) -> EvaluationResult {
    checked_uint(args.uint(0)?.checked_add(args.uint(1)?))
}

fn add_double(args: Arguments<'_>, _: &mut Budget) -> EvaluationResult {
    Ok(Value::Double(args.double(0)? + args.double(1)?))
}

fn add_string(args: Arguments<'_>, _: &mut Budget) -> EvaluationResult {
    Ok(Value::string(&[args.string(0)?, args.string(1)?].concat()))
}

fn add_bytes(args: Arguments<'_>, _: &mut Budget) -> EvaluationResult {
    let bytes = [args.bytes(0)?, args.bytes(1)?].concat();
    Ok(Value::Bytes(bytes.into()))
}

fn add_list(args: Arguments<'_>, budget: &mut Budget) -> EvaluationResult {
    let (left, shape) = args.list_with_shape(0)?;
    let items = concat(left, args.list(1)?, shape, budget)?;
    Ok(Value::List(items.into(), Arc::clone(shape)))
}

fn add_duration(args: Arguments<'_>, _: &mut Budget) -> EvaluationResult {
    checked_duration(args.duration(0)?.checked_add(args.duration(1)?))
}

fn checked_int(number: Option<i64>) -> EvaluationResult {
    number.map(Value::Int).ok_or_else(overflow)
}

fn checked_uint(number: Option<u64>) -> EvaluationResult {
    number.map(Value::Uint).ok_or_else(overflow)
}

fn checked_duration(duration: Option<SignedDuration>) -> EvaluationResult {
    duration.map(Value::Duration).ok_or_else(overflow)
}

fn overflow() -> EvaluationError {
    EvaluationError::new("integer overflow")
}

fn move_timestamp(moved: Result<Timestamp, jiff::Error>) -> EvaluationResult {
    moved
        .map(Value::Timestamp)
        .map_err(|_| EvaluationError::new("timestamp overflow"))
}

fn concat_estimate(operands: Operands<'_>) -> CallEstimate {
    let size = operands.size(0).plus(operands.size(1));
    CallEstimate::sized(size.cost(STRING_CHARACTER), size)
}

fn add_list_estimate(operands: Operands<'_>) -> CallEstimate {
    CallEstimate::sized(1, operands.size(0).plus(operands.size(1)))
}
