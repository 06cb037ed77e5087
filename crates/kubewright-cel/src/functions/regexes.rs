//! Functions of regular expressions: `matches`, `find` and `findAll`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use parking_lot::Mutex;
use regex::Regex;

use super::arguments::Arguments;
use super::overload::{Overload, global, member};
use super::type_pattern::{BOOL, INT, LIST_OF_STRING, STRING};
use crate::budget::Budget;
use crate::cost::{CallEstimate, Operands, SizeEstimate, constant, regex_cost};
use crate::error::EvaluationError;
use crate::go_regex::GoRegex;
use crate::values::{EvaluationResult, Value};

/// How many compiled regular expressions are cached. Rules use the same few many times.
const CACHE_SIZE: usize = 256;

pub(super) static OVERLOADS: &[Overload] = &[
    member("matches", &[STRING, STRING], BOOL).overload("matches_string", matches, |operands| {
        CallEstimate::cost(regex_cost(operands))
    }),
    // cel-go estimates only the member by its arguments.
    global("matches", &[STRING, STRING], BOOL).overload("matches", matches, constant),
    member("find", &[STRING, STRING], STRING).overload("string_find_string", find, find_estimate),
    member("findAll", &[STRING, STRING], LIST_OF_STRING).overload(
        "string_find_all_string",
        |args, budget| find_all(args, usize::MAX, budget),
        find_estimate,
    ),
    member("findAll", &[STRING, STRING, INT], LIST_OF_STRING).overload(
        "string_find_all_string_int",
        |args, budget| {
            let limit = usize::try_from(args.int(2)?).unwrap_or(usize::MAX);
            find_all(args, limit, budget)
        },
        find_estimate,
    ),
];

/// Whether a string is a regular expression of Go.
pub(crate) fn is_regex(text: &str) -> bool {
    compile(text).is_ok()
}

fn matches(args: Arguments<'_>, budget: &mut Budget) -> EvaluationResult {
    let regex = charged_regex(args, budget)?;
    Ok(Value::Bool(regex.is_match(args.string(0)?)))
}

fn find(args: Arguments<'_>, budget: &mut Budget) -> EvaluationResult {
    let regex = charged_regex(args, budget)?;
    let found = regex.find(args.string(0)?);
    Ok(Value::string(found.map_or("", |found| found.as_str())))
}

fn find_all(args: Arguments<'_>, limit: usize, budget: &mut Budget) -> EvaluationResult {
    let regex = charged_regex(args, budget)?;
    let mut found = Vec::new();
    for part in regex.find_iter(args.string(0)?).take(limit) {
        budget.step()?;
        found.push(Value::string(part.as_str()));
    }
    Ok(Value::list(found))
}

/// The regular expression of a call. Charges its search first: each character of the string is
/// compared with each part of the regular expression (`regexCost` of cel-go).
fn charged_regex(args: Arguments<'_>, budget: &mut Budget) -> Result<Regex, EvaluationError> {
    let (text, regex) = (args.string(0)?, args.string(1)?);
    let cost = text
        .len()
        .div_ceil(10)
        .saturating_mul(regex.len().div_ceil(4));
    budget.charge_items(cost)?;
    compile(regex)
}

fn compile(text: &str) -> Result<Regex, EvaluationError> {
    static CACHE: LazyLock<Mutex<BTreeMap<String, Regex>>> = LazyLock::new(Mutex::default);
    if let Some(regex) = CACHE.lock().get(text) {
        return Ok(regex.clone());
    }
    let regex = GoRegex::new(text)
        .map_err(|error| EvaluationError::new(format!("Illegal regex: {error}")))?
        .into_regex();
    let mut cache = CACHE.lock();
    if cache.len() >= CACHE_SIZE {
        cache.clear();
    }
    cache.insert(text.to_owned(), regex.clone());
    Ok(regex)
}

fn find_estimate(operands: Operands<'_>) -> CallEstimate {
    let size = SizeEstimate::up_to(operands.size(0).max);
    CallEstimate::sized(regex_cost(operands), size)
}
