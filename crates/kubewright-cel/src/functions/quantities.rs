//! Quantities (k8s.io/apiserver/pkg/cel/library/quantity.go).

use std::cmp::Ordering;

use kubewright_core::Quantity;

use super::arguments::Arguments;
use super::overload::{Overload, global, member};
use super::type_pattern::{BOOL, DOUBLE, INT, STRING, TypePattern};
use crate::budget::Budget;
use crate::cost::{CallEstimate, Operands, constant};
use crate::error::EvaluationError;
use crate::values::{EvaluationResult, Value};

const QUANTITY: TypePattern = TypePattern::Opaque("kubernetes.Quantity");

const INVALID_QUANTITY: &str = "quantities must match the regular expression \
                                '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

pub(super) static OVERLOADS: &[Overload] = &[
    global("quantity", &[STRING], QUANTITY).overload(
        "string_to_quantity",
        string_to_quantity,
        parse_estimate,
    ),
    global("isQuantity", &[STRING], BOOL).overload(
        "is_quantity_string",
        |args, _| Ok(Value::Bool(Quantity::parse(args.string(0)?).is_some())),
        parse_estimate,
    ),
    global("sign", &[QUANTITY], INT).overload(
        "quantity_sign",
        |args, _| Ok(sign(args.quantity(0)?.cmp_amount(&Quantity::zero()))),
        constant,
    ),
    member("isGreaterThan", &[QUANTITY, QUANTITY], BOOL).overload(
        "quantity_is_greater_than",
        |args, _| Ok(Value::Bool(compare(args)?.is_gt())),
        constant,
    ),
    member("isLessThan", &[QUANTITY, QUANTITY], BOOL).overload(
        "quantity_is_less_than",
        |args, _| Ok(Value::Bool(compare(args)?.is_lt())),
        constant,
    ),
    member("compareTo", &[QUANTITY, QUANTITY], INT).overload(
        "quantity_compare_to",
        |args, _| Ok(sign(compare(args)?)),
        constant,
    ),
    member("asApproximateFloat", &[QUANTITY], DOUBLE).overload(
        "quantity_get_float",
        |args, _| {
            let one = Quantity::parse("1").unwrap_or_else(Quantity::zero);
            Ok(Value::Double(args.quantity(0)?.ratio(&one)))
        },
        constant,
    ),
    member("asInteger", &[QUANTITY], INT).overload("quantity_get_int", as_integer, constant),
    member("isInteger", &[QUANTITY], BOOL).overload(
        "quantity_is_integer",
        |args, _| Ok(Value::Bool(args.quantity(0)?.whole().is_some())),
        constant,
    ),
    member("add", &[QUANTITY, QUANTITY], QUANTITY).overload(
        "quantity_add",
        |args, _| Ok(Value::Quantity(args.quantity(0)?.plus(args.quantity(1)?))),
        constant,
    ),
    member("add", &[QUANTITY, INT], QUANTITY).overload(
        "quantity_add_int",
        |args, _| Ok(Value::Quantity(args.quantity(0)?.plus(from_int(args, 1)?))),
        constant,
    ),
    member("sub", &[QUANTITY, QUANTITY], QUANTITY).overload(
        "quantity_sub",
        |args, _| Ok(Value::Quantity(args.quantity(0)?.minus(args.quantity(1)?))),
        constant,
    ),
    member("sub", &[QUANTITY, INT], QUANTITY).overload(
        "quantity_sub_int",
        |args, _| Ok(Value::Quantity(args.quantity(0)?.minus(from_int(args, 1)?))),
        constant,
    ),
];

fn string_to_quantity(args: Arguments<'_>, _: &mut Budget) -> EvaluationResult {
    let quantity = Quantity::parse(args.string(0)?);
    quantity
        .map(Value::Quantity)
        .ok_or_else(|| EvaluationError::new(INVALID_QUANTITY))
}

fn as_integer(args: Arguments<'_>, _: &mut Budget) -> EvaluationResult {
    let number = args.quantity(0)?.whole();
    number
        .map(Value::Int)
        .ok_or_else(|| EvaluationError::new("cannot convert value to integer"))
}

fn compare(args: Arguments<'_>) -> Result<Ordering, EvaluationError> {
    Ok(args.quantity(0)?.cmp_amount(&args.quantity(1)?))
}

fn from_int(args: Arguments<'_>, index: usize) -> Result<Quantity, EvaluationError> {
    let digits = args.int(index)?.to_string();
    Quantity::parse(&digits).ok_or_else(EvaluationError::no_such_overload)
}

/// -1, 0 or 1.
pub(super) fn sign(order: Ordering) -> Value {
    Value::Int(match order {
        Ordering::Less => -1,
        Ordering::Equal => 0,
        Ordering::Greater => 1,
    })
}

fn parse_estimate(operands: Operands<'_>) -> CallEstimate {
    CallEstimate::cost(operands.traversal(0))
}
