//! Semantic versions (k8s.io/apiserver/pkg/cel/library/semverlib.go).

use std::cmp::Ordering;
use std::sync::Arc;

use super::arguments::Arguments;
use super::overload::{Overload, global, member};
use super::quantities::sign;
use super::type_pattern::{BOOL, INT, STRING, TypePattern};
use crate::budget::Budget;
use crate::cost::{CallEstimate, Operands, constant};
use crate::error::EvaluationError;
use crate::values::{EvaluationResult, Value, Version};

const SEMVER: TypePattern = TypePattern::Opaque("kubernetes.Semver");

pub(super) static OVERLOADS: &[Overload] = &[
    global("semver", &[STRING], SEMVER).overload("string_to_semver", semver, parse_estimate),
    global("semver", &[STRING, BOOL], SEMVER).overload(
        "string_bool_to_semver",
        semver,
        parse_estimate,
    ),
    global("isSemver", &[STRING], BOOL).overload("is_semver_string", is_semver, parse_estimate),
    global("isSemver", &[STRING, BOOL], BOOL).overload(
        "is_semver_string_bool",
        is_semver,
        parse_estimate,
    ),
    member("isGreaterThan", &[SEMVER, SEMVER], BOOL).overload(
        "semver_is_greater_than",
        |args, _| Ok(Value::Bool(compare(args)?.is_gt())),
        constant,
    ),
    member("isLessThan", &[SEMVER, SEMVER], BOOL).overload(
        "semver_is_less_than",
        |args, _| Ok(Value::Bool(compare(args)?.is_lt())),
        constant,
    ),
    member("compareTo", &[SEMVER, SEMVER], INT).overload(
        "semver_compare_to",
        |args, _| Ok(sign(compare(args)?)),
        constant,
    ),
    member("major", &[SEMVER], INT).overload(
        "semver_major",
        |args, _| number(args.semver(0)?.numbers[0]),
        constant,
    ),
    member("minor", &[SEMVER], INT).overload(
        "semver_minor",
        |args, _| number(args.semver(0)?.numbers[1]),
        constant,
    ),
    member("patch", &[SEMVER], INT).overload(
        "semver_patch",
        |args, _| number(args.semver(0)?.numbers[2]),
        constant,
    ),
];

/// Parses the version of a call. The second argument allows versions that are not complete.
fn parse(args: Arguments<'_>) -> Result<Option<Version>, EvaluationError> {
    let text = args.string(0)?;
    let is_normalized = args.len() > 1 && args.bool(1)?;
    Ok(if is_normalized {
        Version::parse_normalized(text)
    } else {
        Version::parse(text)
    })
}

fn semver(args: Arguments<'_>, _: &mut Budget) -> EvaluationResult {
    match parse(args)? {
        Some(version) => Ok(Value::Semver(Arc::new(version))),
        None => {
            let text = args.string(0)?;
            Err(EvaluationError::new(format!("invalid semver {text:?}")))
        }
    }
}

fn is_semver(args: Arguments<'_>, _: &mut Budget) -> EvaluationResult {
    Ok(Value::Bool(parse(args)?.is_some()))
}

fn compare(args: Arguments<'_>) -> Result<Ordering, EvaluationError> {
    Ok(args.semver(0)?.order(args.semver(1)?))
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "implementations of overloads return a result"
)]
fn number(number: u64) -> EvaluationResult {
    Ok(Value::Int(i64::try_from(number).unwrap_or(i64::MAX)))
}

fn parse_estimate(operands: Operands<'_>) -> CallEstimate {
    CallEstimate::cost(operands.traversal(0))
}
