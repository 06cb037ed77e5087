//! Functions of optional values.

use super::arguments::Arguments;
use super::overload::{Overload, global, member};
use super::type_pattern::{A, BOOL, LIST_OF_A, OPTIONAL_OF_A};
use crate::budget::Budget;
use crate::cost::constant;
use crate::error::EvaluationError;
use crate::values::{EvaluationResult, Value};

pub(super) static OVERLOADS: &[Overload] = &[
    global("optional.of", &[A], OPTIONAL_OF_A).overload(
        "optional_of",
        |args, _| Ok(Value::some(args.value(0)?.clone())),
        constant,
    ),
    global("optional.ofNonZeroValue", &[A], OPTIONAL_OF_A).overload(
        "optional_ofNonZeroValue",
        of_non_zero_value,
        constant,
    ),
    global("optional.none", &[], OPTIONAL_OF_A).overload(
        "optional_none",
        |_, _| Ok(Value::Optional(None)),
        constant,
    ),
    member("hasValue", &[OPTIONAL_OF_A], BOOL).overload(
        "optional_hasValue",
        |args, _| Ok(Value::Bool(args.optional(0)?.is_some())),
        constant,
    ),
    member("value", &[OPTIONAL_OF_A], A).overload("optional_value", value, constant),
    member("or", &[OPTIONAL_OF_A, OPTIONAL_OF_A], OPTIONAL_OF_A)
        .overload("optional_or_optional", or, constant)
        .checks_first_argument(),
    member("orValue", &[OPTIONAL_OF_A, A], A).overload(
        "optional_orValue_value",
        or_value,
        constant,
    ),
    member("first", &[LIST_OF_A], OPTIONAL_OF_A).overload(
        "list_first",
        |args, _| Ok(optional(args.list(0)?.first())),
        constant,
    ),
    member("last", &[LIST_OF_A], OPTIONAL_OF_A).overload(
        "list_last",
        |args, _| Ok(optional(args.list(0)?.last())),
        constant,
    ),
];

fn of_non_zero_value(args: Arguments<'_>, _: &mut Budget) -> EvaluationResult {
    let value = args.value(0)?;
    Ok(optional((!value.is_zero()).then_some(value)))
}

fn value(args: Arguments<'_>, _: &mut Budget) -> EvaluationResult {
    let value = args.optional(0)?;
    value
        .cloned()
        .ok_or_else(|| EvaluationError::new("optional.none() dereference"))
}

fn or(args: Arguments<'_>, _: &mut Budget) -> EvaluationResult {
    let chosen = if args.optional(0)?.is_some() { 0 } else { 1 };
    args.value(chosen).cloned()
}

fn or_value(args: Arguments<'_>, _: &mut Budget) -> EvaluationResult {
    match args.optional(0)? {
        Some(value) => Ok(value.clone()),
        None => args.value(1).cloned(),
    }
}

fn optional(value: Option<&Value>) -> Value {
    value.cloned().map_or(Value::Optional(None), Value::some)
}
