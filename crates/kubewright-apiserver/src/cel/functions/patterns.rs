use std::collections::BTreeMap;
use std::sync::LazyLock;

use parking_lot::Mutex;
use regex::Regex;

use crate::cel::budget::Budget;
use crate::cel::evaluate::Evaluated;
use crate::cel::problem::Fault;
use crate::cel::value::Value;
use crate::go_regex::GoRegex;

/// How many patterns are kept: rules use the same few over and over.
const KEPT: usize = 256;

pub(super) fn call(name: &str, args: &[Value], budget: &mut Budget) -> Option<Evaluated> {
    let [Value::String(text), Value::String(pattern), rest @ ..] = args else {
        return None;
    };
    if !matches!(name, "matches" | "find" | "findAll") {
        return None;
    }
    // Each character is tried against each part of the pattern (`regexCost` of cel-go).
    let cost = text
        .len()
        .div_ceil(10)
        .saturating_mul(pattern.len().div_ceil(4));
    if let Err(fault) = budget.items(cost) {
        return Some(Err(fault));
    }
    let pattern = match compiled(pattern) {
        Ok(pattern) => pattern,
        Err(fault) => return Some(Err(fault)),
    };
    Some(match (name, rest) {
        ("matches", []) => Ok(Value::Bool(pattern.is_match(text))),
        ("find", []) => {
            let found = pattern.find(text).map_or("", |found| found.as_str());
            Ok(Value::text(found))
        }
        ("findAll", []) => find_all(&pattern, text, usize::MAX, budget),
        ("findAll", [Value::Int(most)]) => {
            let most = usize::try_from(*most).unwrap_or(usize::MAX);
            find_all(&pattern, text, most, budget)
        }
        _ => return None,
    })
}

fn find_all(pattern: &Regex, text: &str, most: usize, budget: &mut Budget) -> Evaluated {
    let mut found = Vec::new();
    for part in pattern.find_iter(text).take(most) {
        budget.step()?;
        found.push(Value::text(part.as_str()));
    }
    Ok(Value::list(found))
}

/// Whether a text is a pattern at all.
pub(in crate::cel) fn is_pattern(text: &str) -> bool {
    compiled(text).is_ok()
}

fn compiled(text: &str) -> Result<Regex, Fault> {
    static PATTERNS: LazyLock<Mutex<BTreeMap<String, Regex>>> = LazyLock::new(Mutex::default);
    if let Some(pattern) = PATTERNS.lock().get(text) {
        return Ok(pattern.clone());
    }
    let pattern = GoRegex::new(text).map_err(|why| Fault::new(format!("Illegal regex: {why}")))?;
    let pattern = pattern.into_regex();
    let mut patterns = PATTERNS.lock();
    if patterns.len() >= KEPT {
        patterns.clear();
    }
    patterns.insert(text.to_owned(), pattern.clone());
    Ok(pattern)
}
