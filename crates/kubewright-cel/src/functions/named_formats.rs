//! Named formats of strings (k8s.io/apiserver/pkg/cel/library/format.go).

use super::arguments::Arguments;
use super::overload::{Overload, global, member};
use super::type_pattern::{LIST_OF_STRING, STRING, TypePattern, optional};
use crate::budget::Budget;
use crate::cost::{CallEstimate, Operands, constant, scale};
use crate::error::EvaluationError;
use crate::values::{EvaluationResult, NamedFormat, Value};

const FORMAT: TypePattern = TypePattern::Opaque("kubernetes.NamedFormat");

/// The cost of the longest regular expression of a format, for each unit of the string.
const MAX_REGEX: f64 = 32.0;

/// The overload that returns one format.
macro_rules! format_overload {
    ($name:literal) => {
        global(concat!("format.", $name), &[], FORMAT).overload(
            concat!("format-", $name),
            |_, _| format_named($name),
            constant,
        )
    };
}

pub(super) static OVERLOADS: &[Overload] = &[
    format_overload!("dns1123Label"),
    format_overload!("dns1123Subdomain"),
    format_overload!("dns1035Label"),
    format_overload!("qualifiedName"),
    format_overload!("dns1123LabelPrefix"),
    format_overload!("dns1123SubdomainPrefix"),
    format_overload!("dns1035LabelPrefix"),
    format_overload!("labelValue"),
    format_overload!("uri"),
    format_overload!("uuid"),
    format_overload!("byte"),
    format_overload!("date"),
    format_overload!("datetime"),
    global("format.named", &[STRING], optional(&FORMAT)).overload(
        "format-named",
        |args, _| {
            let format = NamedFormat::find(args.string(0)?).map(Value::Format);
            Ok(format.map_or(Value::Optional(None), Value::some))
        },
        constant,
    ),
    member("validate", &[FORMAT, STRING], optional(&LIST_OF_STRING)).overload(
        "format-validate",
        validate,
        validate_estimate,
    ),
];

fn format_named(name: &str) -> EvaluationResult {
    NamedFormat::find(name)
        .map(Value::Format)
        .ok_or_else(EvaluationError::no_such_overload)
}

fn validate(args: Arguments<'_>, _: &mut Budget) -> EvaluationResult {
    let problems = args.format(0)?.problems(args.string(1)?);
    if problems.is_empty() {
        return Ok(Value::Optional(None));
    }
    let messages = problems.iter().map(|problem| Value::string(problem));
    Ok(Value::some(Value::list(messages.collect())))
}

fn validate_estimate(operands: Operands<'_>) -> CallEstimate {
    CallEstimate::cost(scale(operands.traversal(1), MAX_REGEX))
}
