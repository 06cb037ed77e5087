//! Conversions between types: `int(..)`, `string(..)`, `timestamp(..)` and the others.

use jiff::Timestamp;

use super::arguments::Arguments;
use super::overload::{Overload, ResultItems, global};
use super::type_pattern::{
    A, BOOL, BYTES, DOUBLE, DURATION, DYN, INT, STRING, TIMESTAMP, TypePattern, UINT,
};
use crate::budget::Budget;
use crate::cost::{CallEstimate, Operands, SizeEstimate, constant};
use crate::error::EvaluationError;
use crate::values::{EvaluationResult, Value, integer, parse_duration, parse_timestamp};

pub(super) static OVERLOADS: &[Overload] = &[
    global("type", &[A], TypePattern::Type(&A)).overload("type", type_of, constant),
    global("dyn", &[A], DYN)
        .overload("to_dyn", same, dyn_estimate)
        .items(ResultItems::SameAsArgument),
    global("int", &[INT], INT).overload("int64_to_int64", same, constant),
    global("int", &[UINT], INT).overload("uint64_to_int64", uint_to_int, constant),
    global("int", &[DOUBLE], INT).overload("double_to_int64", double_to_int, constant),
    global("int", &[STRING], INT).overload("string_to_int64", string_to_int, constant),
    global("int", &[TIMESTAMP], INT).overload("timestamp_to_int64", timestamp_to_int, constant),
    global("uint", &[UINT], UINT).overload("uint64_to_uint64", same, constant),
    global("uint", &[INT], UINT).overload("int64_to_uint64", int_to_uint, constant),
    global("uint", &[DOUBLE], UINT).overload("double_to_uint64", double_to_uint, constant),
    global("uint", &[STRING], UINT).overload("string_to_uint64", string_to_uint, constant),
    global("double", &[DOUBLE], DOUBLE).overload("double_to_double", same, constant),
    global("double", &[INT], DOUBLE).overload("int64_to_double", to_double, constant),
    global("double", &[UINT], DOUBLE).overload("uint64_to_double", to_double, constant),
    global("double", &[STRING], DOUBLE).overload("string_to_double", string_to_double, constant),
    global("bool", &[BOOL], BOOL).overload("bool_to_bool", same, constant),
    global("bool", &[STRING], BOOL).overload("string_to_bool", string_to_bool, constant),
    global("string", &[STRING], STRING).overload("string_to_string", same, constant),
    global("string", &[BOOL], STRING).overload("bool_to_string", to_string, constant),
    global("string", &[INT], STRING).overload("int64_to_string", to_string, constant),
    global("string", &[UINT], STRING).overload("uint64_to_string", to_string, constant),
    global("string", &[DOUBLE], STRING).overload("double_to_string", to_string, constant),
    global("string", &[BYTES], STRING).overload(
        "bytes_to_string",
        to_string,
        bytes_to_string_estimate,
    ),
    global("string", &[TIMESTAMP], STRING).overload("timestamp_to_string", to_string, constant),
    global("string", &[DURATION], STRING).overload("duration_to_string", to_string, constant),
    global("bytes", &[BYTES], BYTES).overload("bytes_to_bytes", same, constant),
    global("bytes", &[STRING], BYTES).overload(
        "string_to_bytes",
        |args, _| Ok(Value::Bytes(args.string(0)?.as_bytes().into())),
        string_to_bytes_estimate,
    ),
    global("duration", &[DURATION], DURATION).overload("duration_to_duration", same, constant),
    global("duration", &[STRING], DURATION).overload(
        "string_to_duration",
        string_to_duration,
        constant,
    ),
    global("timestamp", &[TIMESTAMP], TIMESTAMP).overload("timestamp_to_timestamp", same, constant),
    global("timestamp", &[STRING], TIMESTAMP).overload(
        "string_to_timestamp",
        string_to_timestamp,
        constant,
    ),
    global("timestamp", &[INT], TIMESTAMP).overload(
        "int64_to_timestamp",
        int_to_timestamp,
        constant,
    ),
];

fn type_of(args: Arguments<'_>, _: &mut Budget) -> EvaluationResult {
    Ok(Value::Type(args.value(0)?.type_name().into()))
}

fn same(args: Arguments<'_>, _: &mut Budget) -> EvaluationResult {
    args.value(0).cloned()
}

fn uint_to_int(args: Arguments<'_>, _: &mut Budget) -> EvaluationResult {
    let number = i64::try_from(args.uint(0)?);
    number.map(Value::Int).map_err(|_| int_overflow())
}

fn double_to_int(args: Arguments<'_>, _: &mut Budget) -> EvaluationResult {
    let number = integer(args.double(0)?.trunc());
    number.map(Value::Int).ok_or_else(int_overflow)
}

fn string_to_int(args: Arguments<'_>, _: &mut Budget) -> EvaluationResult {
    let number = args.string(0)?.parse();
    number.map(Value::Int).map_err(|_| invalid_string("int"))
}

fn timestamp_to_int(args: Arguments<'_>, _: &mut Budget) -> EvaluationResult {
    Ok(Value::Int(args.timestamp(0)?.as_second()))
}

fn int_to_uint(args: Arguments<'_>, _: &mut Budget) -> EvaluationResult {
    let number = u64::try_from(args.int(0)?);
    number.map(Value::Uint).map_err(|_| uint_overflow())
}

fn double_to_uint(args: Arguments<'_>, _: &mut Budget) -> EvaluationResult {
    integer(args.double(0)?.trunc())
        .and_then(|number| u64::try_from(number).ok())
        .map(Value::Uint)
        .ok_or_else(uint_overflow)
}

fn string_to_uint(args: Arguments<'_>, _: &mut Budget) -> EvaluationResult {
    let number = args.string(0)?.parse();
    number.map(Value::Uint).map_err(|_| invalid_string("uint"))
}

fn to_double(args: Arguments<'_>, _: &mut Budget) -> EvaluationResult {
    let number = args.value(0)?.float();
    number
        .map(Value::Double)
        .ok_or_else(EvaluationError::no_such_overload)
}

fn string_to_double(args: Arguments<'_>, _: &mut Budget) -> EvaluationResult {
    let number = args.string(0)?.parse();
    number
        .map(Value::Double)
        .map_err(|_| invalid_string("double"))
}

fn string_to_bool(args: Arguments<'_>, _: &mut Budget) -> EvaluationResult {
    match args.string(0)? {
        "1" | "t" | "T" | "TRUE" | "true" | "True" => Ok(Value::Bool(true)),
        "0" | "f" | "F" | "FALSE" | "false" | "False" => Ok(Value::Bool(false)),
        _ => Err(invalid_string("bool")),
    }
}

/// Fails for bytes that are not UTF-8.
pub(super) fn to_string(args: Arguments<'_>, _: &mut Budget) -> EvaluationResult {
    let text = args.value(0)?.to_text();
    text.map(|text| Value::string(&text))
        .ok_or_else(EvaluationError::no_such_overload)
}

fn string_to_duration(args: Arguments<'_>, _: &mut Budget) -> EvaluationResult {
    let duration = parse_duration(args.string(0)?);
    duration
        .map(Value::Duration)
        .ok_or_else(|| invalid_string("google.protobuf.Duration"))
}

fn string_to_timestamp(args: Arguments<'_>, _: &mut Budget) -> EvaluationResult {
    let time = parse_timestamp(args.string(0)?);
    time.map(Value::Timestamp)
        .ok_or_else(|| invalid_string("google.protobuf.Timestamp"))
}

fn int_to_timestamp(args: Arguments<'_>, _: &mut Budget) -> EvaluationResult {
    let time = Timestamp::from_second(args.int(0)?);
    time.map(Value::Timestamp)
        .map_err(|_| EvaluationError::new("timestamp overflow"))
}

fn int_overflow() -> EvaluationError {
    EvaluationError::new("integer overflow")
}

fn uint_overflow() -> EvaluationError {
    EvaluationError::new("unsigned integer overflow")
}

fn invalid_string(target: &str) -> EvaluationError {
    EvaluationError::new(format!("type conversion error from 'string' to '{target}'"))
}

fn dyn_estimate(operands: Operands<'_>) -> CallEstimate {
    CallEstimate {
        cost: 1,
        size: operands.known_size(0),
    }
}

/// A character has up to four bytes.
fn string_to_bytes_estimate(operands: Operands<'_>) -> CallEstimate {
    let SizeEstimate { min, max } = operands.size(0);
    let max = max.wrapping_mul(4);
    CallEstimate::sized(operands.traversal(0), SizeEstimate { min, max })
}

fn bytes_to_string_estimate(operands: Operands<'_>) -> CallEstimate {
    let SizeEstimate { min, max } = operands.size(0);
    let min = min / 4;
    CallEstimate::sized(operands.traversal(0), SizeEstimate { min, max })
}
